"""What Spark does not compute, PostgreSQL computes while it reads the table; explain shows it."""

from __future__ import annotations

from helpers import create_exact, refresh_exact
from pgstream.client import PgStream

TABLES = r"""
CREATE FUNCTION initials(text) RETURNS text IMMUTABLE LANGUAGE sql
    AS $$ SELECT string_agg(left(w, 1), '' ORDER BY n)
          FROM regexp_split_to_table($1, '\s+') WITH ORDINALITY AS p(w, n) $$;
CREATE TABLE t (id int PRIMARY KEY, name text, doc jsonb, during int4range);
INSERT INTO t SELECT i, (ARRAY['Ada Lovelace', 'Alan Turing', 'Grace Hopper', NULL])[1 + i % 4],
    jsonb_build_object('tags', jsonb_build_array(i % 3, 'x'), 'n', i), int4range(i % 5, i % 5 + 3)
    FROM generate_series(1, 20) i;
"""
# An expression of each kind, and how explain shows it.
EXPRESSIONS = {
    "a user's function": ("initials(name)", "public.initials("),
    "a regular expression": ("name ~ '^A.*g$'", " ~ CAST('^A.*g$'"),
    "a jsonb path": ("doc @? '$.tags[*] ? (@ == 1)'", " @? CAST('$."),
    "a range operator": ("during && '[2,4)'::int4range", " && CAST('[2,4)'"),
}
CHANGES = (
    "INSERT INTO t VALUES (100, 'Annie Jump Cannon', '{\"tags\": [1]}', '[3,9)'),"
    " (101, NULL, NULL, 'empty')",
    "UPDATE t SET name = 'Ada King', doc = doc || '{\"tags\": []}', during = '(,)' WHERE id < 9",
    "DELETE FROM t WHERE id % 2 = 0",
)


def scans(ps: PgStream, name: str) -> str:
    tree = dict(ps.explain(name))["Operator Tree"]
    return "\n".join(line for line in tree.splitlines() if line.strip().startswith("Scan"))


def test_in_select_where_and_group_by(ps: PgStream) -> None:
    ps.execute(TABLES)
    texts = [text for text, _ in EXPRESSIONS.values()]
    items = ", ".join(f"{text} AS v{i}" for i, text in enumerate(texts))
    either = " OR ".join([f"{texts[0]} = 'GH'", *texts[1:3]])
    queries = {
        "selected": f"SELECT id, {items} FROM t",
        "filtered": f"SELECT id FROM t WHERE ({either}) AND {texts[3]}",
        "grouped": f"SELECT {items}, count(*) AS n FROM t GROUP BY {', '.join(texts)}",
    }
    for name, query in queries.items():
        create_exact(ps, name, query)
        for kind, (_, shown) in EXPRESSIONS.items():
            assert shown in scans(ps, name), kind
        assert "ByPostgres" not in str(ps.explain(name))
    for change in CHANGES:
        ps.execute(change)
        for name in queries:
            assert refresh_exact(ps, name).action == "DIFFERENTIAL"


def test_rows_that_where_drops_are_not_read(ps: PgStream) -> None:
    """Nor what they lead to; a row that begins or ceases to pass comes or goes."""
    ps.execute("CREATE TABLE item (id int PRIMARY KEY, part int, n int)")
    ps.execute("CREATE TABLE part (id int PRIMARY KEY, brand text, size numeric)")
    ps.execute("CREATE TABLE maker (brand text PRIMARY KEY, country text)")
    ps.execute("INSERT INTO part SELECT i, 'b' || i % 10, i / 2.0 FROM generate_series(1, 50) i")
    ps.execute("INSERT INTO item SELECT i, i % 50 + 1, i FROM generate_series(1, 500) i")
    ps.execute("INSERT INTO maker SELECT 'b' || i, 'c' FROM generate_series(0, 9) i")
    joined = "FROM item i JOIN part p ON p.id = i.part JOIN maker m ON m.brand = p.brand"
    asked = "p.brand LIKE '%3' AND p.size > 5.5 AND i.n > 100"
    create_exact(ps, "chosen", f"SELECT i.id, p.size, m.country {joined} WHERE {asked}")
    changes = {
        "UPDATE item SET part = part % 50 + 1 WHERE id BETWEEN 201 AND 250": 6,
        "UPDATE item SET n = 601 - n WHERE id <= 100": 11,
        "UPDATE part SET size = 5 WHERE id IN (13, 14)": 11,
        "UPDATE part SET brand = 'c3' WHERE id = 23; INSERT INTO maker VALUES ('c3', 'd')": 22,
        "UPDATE maker SET country = 'e' WHERE brand = 'b4'": 0,
    }
    for change, most in changes.items():
        ps.execute(change)
        assert refresh_exact(ps, "chosen").rows_read <= most, change


def test_a_row_that_came_and_went_is_not_asked(ps: PgStream) -> None:
    ps.execute("CREATE TABLE w (id int, s text)")
    create_exact(ps, "numbers", "SELECT id FROM w WHERE s::int > 1")
    ps.execute("INSERT INTO w VALUES (1, 'x'), (2, '7')")
    ps.execute("DELETE FROM w WHERE s = 'x'")
    assert refresh_exact(ps, "numbers").rows_inserted == 1


def test_a_row_that_where_drops_is_not_computed(ps: PgStream) -> None:
    """As in PostgreSQL: what would fail for it does not."""
    ps.execute("CREATE TABLE w (id int, s text, y numeric(6, 2))")
    ps.execute("INSERT INTO w VALUES (1, '7', 2), (2, 'x', 0), (3, NULL, 0), (4, '0', 1)")
    ps.execute("CREATE TABLE v (id int, ok boolean)")
    ps.execute("INSERT INTO v VALUES (1, true), (2, false)")
    create_exact(ps, "divided", "SELECT id, 1 / y AS q FROM w WHERE y <> 0")
    create_exact(ps, "read", "SELECT id FROM w WHERE s ~ '^[0-9]+$' AND s::int > 0")
    create_exact(ps, "keyed", "SELECT s::int AS k, sum(1 / y) AS n FROM w WHERE y <> 0 GROUP BY 1")
    chosen = "SELECT w.id, CASE WHEN v.ok THEN w.s::int END AS n FROM w JOIN v ON v.id = w.id"
    create_exact(ps, "chosen", chosen)
    outer = "SELECT w.id, v.ok, 1 / w.y AS q FROM w LEFT JOIN v ON v.id = w.id WHERE w.y <> 0"
    create_exact(ps, "joined", outer)
    ps.execute("INSERT INTO w VALUES (5, 'z', 0), (6, '12', 4); UPDATE w SET y = 3 WHERE id = 4")
    for name in ("divided", "read", "keyed", "chosen", "joined"):
        refresh_exact(ps, name)
