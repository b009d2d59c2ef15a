"""Triggers on stream tables, through whole refreshes: what they see, and what they write."""

from __future__ import annotations

import pytest

from helpers import assert_exact, create_exact, refresh_exact, rows, script
from pgstream.catalog.records import Action
from pgstream.client import PgStream
from pgstream.errors import TriggerError
from pgstream.settings import Settings

LOG = (
    "CREATE TABLE log (op text, was text, becomes text)",
    """CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
    BEGIN
        INSERT INTO log VALUES (TG_OP, to_jsonb(OLD) - '__pgs_row_id',
                                to_jsonb(NEW) - '__pgs_row_id');
        RETURN NULL;
    END $$""",
)
TRIGGER = (
    "CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON {}"
    " FOR EACH ROW EXECUTE FUNCTION note()"
)


@pytest.fixture
def base(ps: PgStream) -> PgStream:
    script(
        ps,
        "CREATE TABLE t (id int PRIMARY KEY, g int, x int)",
        "INSERT INTO t SELECT i, i % 3, i FROM generate_series(1, 9) i",
        *LOG,
    )
    return ps


def logged(ps: PgStream) -> list[tuple[str, str | None, str | None]]:
    return sorted(ps.execute("DELETE FROM log RETURNING op, was, becomes"), key=str)


def operations(ps: PgStream) -> list[str]:
    return [op for op, *_ in logged(ps)]


def test_groups_that_change_are_updated(base: PgStream) -> None:
    create_exact(base, "totals", "SELECT g, sum(x) AS total FROM t GROUP BY g")
    base.execute(TRIGGER.format("totals"))
    base.execute("UPDATE t SET x = x + 1 WHERE id = 3")
    refresh_exact(base, "totals")
    assert logged(base) == [("UPDATE", '{"g": 0, "total": 18}', '{"g": 0, "total": 19}')]
    script(base, "DELETE FROM t WHERE g = 1", "INSERT INTO t VALUES (10, 7, 7)")
    refresh_exact(base, "totals")
    assert operations(base) == ["DELETE", "INSERT"]
    base.execute("UPDATE t SET id = id + 100")  # no total changes
    refresh_exact(base, "totals")
    assert operations(base) == []
    base.execute("TRUNCATE t")
    assert refresh_exact(base, "totals").action is Action.FULL
    assert operations(base) == ["DELETE", "DELETE", "DELETE"]


def test_a_full_refresh_is_a_difference_to_triggers_too(base: PgStream) -> None:
    create_exact(base, "big", "SELECT id, x FROM t WHERE x > 3")
    base.execute(TRIGGER.format("big"))
    script(base, "UPDATE t SET x = x * 10 WHERE id = 5", "UPDATE t SET x = 0 WHERE id = 6")
    done = base.refresh_stream_table("big", full=True)
    assert done.action is Action.FULL
    assert (done.rows_inserted, done.rows_deleted) == (1, 2)
    assert operations(base) == ["DELETE", "UPDATE"]
    assert_exact(base, "big")


def test_rows_without_a_key_come_and_go(base: PgStream) -> None:
    create_exact(base, "xs", "SELECT g, x FROM t")
    base.execute(TRIGGER.format("xs"))
    base.execute("UPDATE t SET x = 100 WHERE id = 1")
    refresh_exact(base, "xs")
    assert operations(base) == ["DELETE", "INSERT"]


def test_those_who_read_a_table_with_triggers_get_its_change(base: PgStream) -> None:
    create_exact(base, "low", "SELECT id, g, x * 1.10 AS y FROM t")
    create_exact(base, "high", "SELECT g, sum(y) AS total FROM low GROUP BY g")
    script(base, TRIGGER.format("low"), TRIGGER.format("high"))
    base.execute("UPDATE t SET x = x + 1 WHERE id <= 2")
    refresh_exact(base, "high")
    assert_exact(base, "low")
    assert operations(base) == ["UPDATE"] * 4


def test_what_a_trigger_writes_to_a_source_is_a_change_like_any_other(base: PgStream) -> None:
    create_exact(base, "low", "SELECT id, g FROM t")
    create_exact(base, "high", "SELECT g, count(*) AS n FROM low GROUP BY g")
    script(
        base,
        """CREATE FUNCTION more() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
        BEGIN
            INSERT INTO t VALUES (NEW.id + 1000, NEW.g, 0);
            RETURN NULL;
        END $$""",
        "CREATE TRIGGER more AFTER INSERT ON low FOR EACH ROW WHEN (NEW.id < 1000)"
        " EXECUTE FUNCTION more()",
    )
    base.execute("INSERT INTO t VALUES (50, 1, 1)")
    base.refresh_stream_table("high")  # 50 comes, and 1050 is written to t meanwhile
    assert base.execute("SELECT n FROM high WHERE g = 1") == [(4,)]
    done = base.refresh_stream_table("high")
    assert done.upstream[0].changes_read == 1
    assert_exact(base, "low", "high")
    assert base.execute("SELECT n FROM high WHERE g = 1") == [(5,)]


def test_a_trigger_that_fails_changes_nothing(base: PgStream) -> None:
    create_exact(base, "totals", "SELECT g, sum(x) AS total FROM t GROUP BY g")
    script(
        base,
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE EXCEPTION 'not today'; END $$",
        "CREATE TRIGGER never AFTER UPDATE ON totals FOR EACH ROW EXECUTE FUNCTION refuse()",
    )
    before = rows(base, "totals")
    base.execute("UPDATE t SET x = 100 WHERE id = 1")
    with pytest.raises(TriggerError, match=r"never .*not today"):
        base.refresh_stream_table("totals")
    assert rows(base, "totals") == before
    base.execute("DROP TRIGGER never ON totals")
    refresh_exact(base, "totals")


def test_off(base: PgStream) -> None:
    create_exact(base, "totals", "SELECT g, sum(x) AS total FROM t GROUP BY g")
    base.execute(TRIGGER.format("totals"))
    base.refresher.settings = Settings(user_triggers="off", differential_max_change_ratio=0.0)
    base.execute("UPDATE t SET x = 100 WHERE id = 1")
    refresh_exact(base, "totals")
    assert operations(base) == []
    base.refresher.settings = Settings(differential_max_change_ratio=0.0)
    base.execute("UPDATE t SET x = 200 WHERE id = 1")
    refresh_exact(base, "totals")
    assert operations(base) == ["UPDATE"]


def test_a_buffer_that_was_emptied_leads_to_a_full_refresh(base: PgStream) -> None:
    from pgstream.capture.limit import empty_buffer

    create_exact(base, "totals", "SELECT g, sum(x) AS total FROM t GROUP BY g")
    base.execute("UPDATE t SET x = x + 1")
    assert empty_buffer(base.own, base.table("totals").dependencies[0].relid) == 18
    done = refresh_exact(base, "totals")
    assert (done.action, done.reason) == (
        Action.FULL,
        "changes of public.t were dropped: buffer_limit",
    )
    base.execute("UPDATE t SET x = x + 1 WHERE id = 1")
    assert refresh_exact(base, "totals").action is Action.DIFFERENTIAL
