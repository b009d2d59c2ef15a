"""Triggers and subscribers see what happened: DELETE, UPDATE where a key stays, INSERT."""

from __future__ import annotations

from collections.abc import Sequence

import psycopg
import pytest

from pgstream.algebra.operators.node import Column
from pgstream.algebra.types import INTEGER, NUMERIC, TEXT
from pgstream.database.connection import Connection
from pgstream.errors import IntegrityError, PermissionDenied, TriggerError
from pgstream.refresh.known import as_known
from pgstream.storage.apply import Applied
from pgstream.storage.apply_to_users import Triggers, apply_to_users
from pgstream.storage.target import Target
from pgstream.storage.temporary import create_temporary

COLUMNS = (Column("id", INTEGER), Column("x", NUMERIC), Column("s", TEXT))
LOG = """
CREATE TABLE log (op text, was text, becomes text);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    INSERT INTO log VALUES (TG_OP,
        CASE WHEN TG_OP <> 'INSERT' THEN concat_ws(' ', OLD.id, OLD.x, OLD.s) END,
        CASE WHEN TG_OP <> 'DELETE' THEN concat_ws(' ', NEW.id, NEW.x, NEW.s) END);
    RETURN NULL;
END $$
"""
TRIGGER = "CREATE TRIGGER {} AFTER INSERT OR UPDATE OR DELETE ON st FOR EACH ROW EXECUTE FUNCTION "

Row = tuple[int | None, str, str]


@pytest.fixture
def st(owner: Connection) -> Connection:
    owner.execute(
        "CREATE TABLE st (id int, x numeric, s text, __pgs_row_id bigint NOT NULL);"
        "CREATE TRIGGER __pgs_guard BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON st"
        " FOR EACH STATEMENT EXECUTE FUNCTION pgstream._guard()"
    )
    owner.execute(LOG)
    return owner


def applied(
    connection: Connection,
    delta: Sequence[tuple[Row, int]],
    key: tuple[str, ...] | None = ("id",),
    triggers: Triggers = Triggers.AUTO,
) -> Applied:
    row = connection.execute("SELECT 'st'::regclass::oid::int8").fetchone()
    assert row is not None
    target = Target(1, row[0], "public", "st", COLUMNS, key)
    with connection.transaction():
        table = create_temporary(connection, "delta", 1, COLUMNS)
        for (id_, x, s), weight in delta:
            connection.execute(
                "INSERT INTO pg_temp.__pgs_delta_1 VALUES (%s, %s, %s, %s, %s)",
                (id_, x, s, len(s), weight),
            )
        return apply_to_users(connection, target, table, triggers)


def logged(connection: Connection) -> list[tuple[str | None, ...]]:
    rows = connection.execute("DELETE FROM log RETURNING op, was, becomes").fetchall()
    return sorted(rows, key=str)


def stored(connection: Connection) -> list[str]:
    found = connection.execute("SELECT concat_ws(' ', id, x, s) FROM st").fetchall()
    return sorted(row[0] for row in found)


def test_a_row_that_keeps_its_key_is_updated(st: Connection) -> None:
    st.execute(TRIGGER.format("note") + "note()")
    first = [((1, "1", "a"), 1), ((2, "2", "b"), 1), ((None, "3", "c"), 1)]
    assert applied(st, first) == Applied(3, 0)
    assert [op for op, *_ in logged(st)] == ["INSERT"] * 3
    second: list[tuple[Row, int]] = [
        ((1, "1", "a"), -1), ((1, "1", "aa"), 1),
        ((2, "2", "b"), -1),
        ((None, "3", "c"), -1), ((None, "4", "c"), 1),
        ((5, "5", "e"), 1),
    ]  # fmt: skip
    assert applied(st, second) == Applied(3, 3)
    assert logged(st) == [
        ("DELETE", "2 2 b", None),
        ("INSERT", None, "5 5 e"),
        ("UPDATE", "1 1 a", "1 1 aa"),
        ("UPDATE", "3 c", "4 c"),
    ]
    assert stored(st) == ["1 1 aa", "4 c", "5 5 e"]
    ids = st.execute("SELECT __pgs_row_id FROM st WHERE id = 1").fetchall()
    assert ids == [(2,)]  # that of the new row


def test_duplicates_are_paired_one_by_one(st: Connection) -> None:
    st.execute(TRIGGER.format("note") + "note()")
    applied(st, [((1, "1", "a"), 3), ((1, "1", "b"), 1)])
    logged(st)
    change: list[tuple[Row, int]] = [((1, "1", "a"), -2), ((1, "1", "b"), -1), ((1, "9", "z"), 2)]
    assert applied(st, change) == Applied(2, 3)
    assert [op for op, *_ in logged(st)] == ["DELETE", "UPDATE", "UPDATE"]
    assert stored(st) == ["1 1 a", "1 9 z", "1 9 z"]


@pytest.mark.parametrize(
    ("key", "ops"), [(None, ["DELETE", "INSERT"]), ((), ["UPDATE"]), (("id",), ["UPDATE"])]
)
def test_without_a_key_nothing_is_paired(
    st: Connection, key: tuple[str, ...] | None, ops: list[str]
) -> None:
    st.execute(TRIGGER.format("note") + "note()")
    applied(st, [((1, "1", "a"), 1)])
    logged(st)
    applied(st, [((1, "1", "a"), -1), ((1, "2", "a"), 1)], key)
    assert [op for op, *_ in logged(st)] == ops


def test_values_of_a_unique_column_may_be_exchanged(st: Connection) -> None:
    """PostgreSQL checks a unique index row by row, so the rows go first, and come then."""
    st.execute(TRIGGER.format("note") + "note()")
    st.execute("CREATE UNIQUE INDEX ON st (s)")
    applied(st, [((1, "1", "a"), 1), ((2, "2", "b"), 1)])
    logged(st)
    swap: list[tuple[Row, int]] = [
        ((1, "1", "a"), -1), ((1, "1", "b"), 1), ((2, "2", "b"), -1), ((2, "2", "a"), 1),
    ]  # fmt: skip
    assert applied(st, swap) == Applied(2, 2)
    assert stored(st) == ["1 1 b", "2 2 a"]
    assert [op for op, *_ in logged(st)] == ["DELETE", "DELETE", "INSERT", "INSERT"]


def test_the_delta_gets_the_zeros_of_what_is_gone(st: Connection) -> None:
    st.execute(TRIGGER.format("note") + "note()")
    applied(st, [((1, "1.500", "a"), 1), ((1, "1.5", "b"), 1)])
    with st.transaction():
        applied(st, [((1, "1.50", "a"), -1), ((1, "2", "a"), 1)])
        seen = st.execute("SELECT x::text, __pgs_weight FROM pg_temp.__pgs_delta_1").fetchall()
    assert sorted(seen) == [("1.500", -1), ("2", 1)]
    assert stored(st) == ["1 1.5 b", "1 2 a"]


def test_a_row_that_is_not_there(st: Connection) -> None:
    st.execute(TRIGGER.format("note") + "note()")
    with pytest.raises(IntegrityError):
        applied(st, [((1, "1", "a"), -1), ((1, "2", "a"), 1)])


def test_statement_triggers_see_what_changed_and_nothing_else(st: Connection) -> None:
    st.execute(
        "CREATE TABLE statements (op text, n int);"
        "CREATE FUNCTION count_rows() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " INSERT INTO public.statements SELECT TG_OP, count(*) FROM becomes; RETURN NULL; END $$;"
        "CREATE TRIGGER u AFTER UPDATE ON st REFERENCING NEW TABLE AS becomes"
        " FOR EACH STATEMENT EXECUTE FUNCTION count_rows();"
        "CREATE TRIGGER i AFTER INSERT ON st REFERENCING NEW TABLE AS becomes"
        " FOR EACH STATEMENT EXECUTE FUNCTION count_rows()"
    )
    applied(st, [((1, "1", "a"), 1), ((2, "1", "a"), 1)])
    applied(st, [((1, "1", "a"), -1), ((1, "2", "a"), 1)])
    assert st.execute("SELECT * FROM statements").fetchall() == [("INSERT", 2), ("UPDATE", 1)]


# --- settings ------------------------------------------------------------------------------------


def test_off_silences_and_leaves_every_trigger_as_it_was(st: Connection) -> None:
    for name, how in (("a", "ENABLE"), ("b", "ENABLE ALWAYS"), ("c", "DISABLE"), ("d", "REPLICA")):
        st.execute(TRIGGER.format(name) + "note()")
        how = "ENABLE REPLICA" if how == "REPLICA" else how
        st.execute(f"ALTER TABLE st {how} TRIGGER {name}")
    states = "SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = 'st'::regclass ORDER BY 1"
    before = st.execute(states).fetchall()
    applied(st, [((1, "1", "a"), 1)], triggers=Triggers.OFF)
    applied(st, [((1, "1", "a"), -1), ((1, "2", "a"), 1)], triggers=Triggers.OFF)
    assert logged(st) == []
    assert st.execute(states).fetchall() == before
    applied(st, [((1, "2", "a"), -1)])
    assert [op for op, *_ in logged(st)] == ["DELETE", "DELETE"]


def test_on_updates_without_triggers(st: Connection) -> None:
    before = st.execute("SELECT pg_stat_get_xact_tuples_updated('st'::regclass)").fetchone()
    assert before == (0,)
    for triggers, updates in ((Triggers.AUTO, 0), (Triggers.OFF, 0), (Triggers.ON, 1)):
        with st.transaction():
            applied(st, [((1, "1", "a"), 1)], triggers=triggers)
            st.execute("DROP TABLE pg_temp.__pgs_delta_1")
            applied(st, [((1, "1", "a"), -1), ((1, "2", "a"), 1)], triggers=triggers)
            st.execute("DROP TABLE pg_temp.__pgs_delta_1")
            applied(st, [((1, "2", "a"), -1)], triggers=triggers)
            row = st.execute("SELECT pg_stat_get_xact_tuples_updated('st'::regclass)").fetchone()
        assert row == (updates,), triggers


# --- failures ------------------------------------------------------------------------------------


def test_a_failing_trigger_is_named(st: Connection) -> None:
    st.execute(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " RAISE EXCEPTION 'no %', TG_OP; END $$;"
        "CREATE TRIGGER strict_one AFTER UPDATE ON st FOR EACH ROW EXECUTE FUNCTION refuse()"
    )
    applied(st, [((1, "1", "a"), 1)])
    with pytest.raises(TriggerError, match=r"strict_one \(public.refuse\(\)\).*public.st.*UPDATE"):
        applied(st, [((1, "1", "a"), -1), ((1, "2", "a"), 1)])
    assert stored(st) == ["1 1 a"]


def test_a_deferred_trigger_that_fails_is_named(st: Connection) -> None:
    st.execute(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$"
        " BEGIN RAISE EXCEPTION 'no'; END $$;"
        "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON st DEFERRABLE INITIALLY DEFERRED"
        " FOR EACH ROW EXECUTE FUNCTION refuse()"
    )
    with pytest.raises(TriggerError, match="late"):
        applied(st, [((1, "1", "a"), 1)])


def test_a_function_that_needs_a_path_says_so(st: Connection) -> None:
    st.execute(
        "CREATE FUNCTION lost() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " INSERT INTO log VALUES ('x'); RETURN NULL; END $$;"
        "CREATE TRIGGER finds AFTER INSERT ON st FOR EACH ROW EXECUTE FUNCTION lost()"
    )
    st.execute("SET search_path = pg_catalog, pg_temp")  # as in our own connections
    with pytest.raises(TriggerError) as raised:
        _insert_one(st)
    assert "ALTER FUNCTION public.lost() SET search_path" in (raised.value.hint or "")


def _insert_one(connection: Connection) -> None:
    row = connection.execute("SELECT 'public.st'::regclass::oid::int8").fetchone()
    assert row is not None
    target = Target(1, row[0], "public", "st", COLUMNS, ("id",))
    with connection.transaction():
        delta = create_temporary(connection, "delta", 1, COLUMNS)
        connection.execute("INSERT INTO pg_temp.__pgs_delta_1 VALUES (1, 1, 'a', 1, 1)")
        apply_to_users(connection, target, delta, Triggers.AUTO)


def test_a_trigger_cannot_write_to_a_stream_table(st: Connection) -> None:
    st.execute(
        "CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " DELETE FROM public.st; RETURN NULL; END $$;"
        "CREATE TRIGGER meddles AFTER INSERT ON st FOR EACH ROW EXECUTE FUNCTION meddle()"
    )
    with pytest.raises(TriggerError, match=r"meddles.*maintained by pgstream"):
        applied(st, [((1, "1", "a"), 1)])


# --- whose code runs -----------------------------------------------------------------------------


def refused(connection: Connection, triggers: Triggers = Triggers.AUTO) -> Exception | None:
    try:
        applied(connection, [((7, "1", "a"), 1)], triggers=triggers)
    except psycopg.Error as error:
        return as_known(error)
    return None


def test_a_strangers_function_does_not_run_with_our_rights(
    st: Connection, alice: Connection
) -> None:
    st.execute("GRANT TRIGGER ON st TO pgs_test_alice")
    alice.execute(
        "CREATE FUNCTION public.mine() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " EXECUTE format('ALTER TABLE public.log RENAME TO %I', current_user); RETURN NULL;"
        " END $$;"
        "CREATE TRIGGER hers AFTER INSERT ON public.st FOR EACH ROW EXECUTE FUNCTION public.mine()"
    )
    error = refused(st)
    assert isinstance(error, PermissionDenied)
    assert "hers" in error.message
    assert "ALTER FUNCTION public.mine() OWNER TO pgs_test_owner" in (error.hint or "")
    assert refused(st, Triggers.OFF) is None
    assert logged(st) == []  # the table has kept its name


def test_a_strangers_function_in_when_does_not_run_either(
    st: Connection, alice: Connection
) -> None:
    st.execute("GRANT TRIGGER ON st TO pgs_test_alice")
    alice.execute(
        "CREATE FUNCTION public.yes(int) RETURNS bool LANGUAGE sql AS 'SELECT true';"
        "CREATE TRIGGER hers AFTER INSERT ON public.st FOR EACH ROW WHEN (public.yes(NEW.id))"
        " EXECUTE FUNCTION public.note()"
    )
    error = refused(st)
    assert isinstance(error, PermissionDenied)
    assert "yes(integer)" in error.message


def test_a_before_row_trigger_is_refused(st: Connection) -> None:
    st.execute(
        "CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
        "CREATE TRIGGER skips BEFORE INSERT ON st FOR EACH ROW EXECUTE FUNCTION skip()"
    )
    error = refused(st)
    assert isinstance(error, TriggerError)
    assert "skips" in error.message
    st.execute("ALTER TABLE st DISABLE TRIGGER skips")
    assert refused(st) is None


def test_a_foreign_key_follows_a_row_that_is_updated(st: Connection) -> None:
    """PostgreSQL's own triggers of foreign keys are no triggers of users."""
    st.execute("ALTER TABLE st ADD CONSTRAINT one UNIQUE (id)")
    st.execute("CREATE TABLE refers (id int REFERENCES st (id) DEFERRABLE INITIALLY DEFERRED)")
    applied(st, [((1, "1", "a"), 1)])
    st.execute("INSERT INTO refers VALUES (1)")
    applied(st, [((1, "1", "a"), -1), ((1, "2", "a"), 1)], triggers=Triggers.ON)
    assert stored(st) == ["1 2 a"]
