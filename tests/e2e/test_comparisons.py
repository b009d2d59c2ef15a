"""Values of unlike types are compared as PostgreSQL's own operators compare them.

Constructs that compare, over pairs of types that PostgreSQL compares: 0.1 is another number as
real, double precision and numeric; 2^53 + 1 is none as double precision; char(n) has blanks at its
end. Several go side by side into one stream table.
"""

from __future__ import annotations

import pytest

from helpers import assert_all_stay_exact
from pgstream.client import PgStream

pytestmark = pytest.mark.filterwarnings("ignore::pgstream.client.PgStreamWarning")  # timestamptz
TYPES = "CREATE DOMAIN amount AS numeric(8, 2); CREATE DOMAIN word AS varchar(9)"
# For each group of types: the columns, then the rows of l and of r, each under its id.
NUMBERS = {
    "s": "smallint", "i": "int", "b": "bigint", "n": "numeric", "r": "real",
    "f": "double precision",
}  # fmt: skip
NUMBER_ROWS = (
    """(1, 1, 1, 1, 1.00, 1, 1), (2, NULL, 16777217, 9007199254740993, 0.1, 0.1, 0.1),
    (2, NULL, 16777217, 9007199254740993, 0.1, 0.1, 0.1),
    (3, 2, 2, 16777217, 0.10000000000000000001, 16777216, 9007199254740992),
    (4, 0, 0, 0, 0, '-0', '-0'), (5, NULL, NULL, NULL, NULL, NULL, NULL),
    (6, 7, 8, 9, 0.5, 'NaN', 'Infinity'), (7, -32768, -7, -7, 16777217, 0.5, 0.1::real)""",
    """(1, 1, 1, 1, 1, 1, 1), (2, 2, 16777216, 9007199254740992, 0.1, 0.1, 0.1),
    (3, NULL, NULL, NULL, NULL, NULL, NULL), (3, NULL, NULL, NULL, NULL, NULL, NULL),
    (4, 7, 16777217, 16777216, 0.10000000000000000001, 0, 0),
    (4, 7, 2, 9, 9007199254740993, 'Infinity', 'NaN'), (6, 9, -7, -32768, 0.5, 2, 16777217)""",
)
TEXTS = {
    "t": "text", "v": "varchar(5)", "c": "char(3)", "e": "char(5)", "a": "name", "w": "word",
}  # fmt: skip
TEXT_ROWS = (
    """(1, 'a', 'a', 'a', 'a', 'a', 'a'), (2, 'a ', 'a  ', 'ab', 'ab ', 'a ', 'b'),
    (3, '', '', '', '', '', ''), (3, NULL, NULL, NULL, NULL, NULL, NULL),
    (4, 'A', 'abc', 'abc', 'abc', 'abc', 'abc'), (4, 'A', 'abc', 'abc', 'abc', 'abc', 'abc')""",
    """(1, 'a', 'a ', 'a', 'a', 'a', 'a '), (2, 'ab', 'ab', 'b', 'abcde', 'ab', 'ab'),
    (3, NULL, NULL, NULL, NULL, NULL, NULL), (4, '', 'A', 'A', '', 'abc', ''),
    (5, 'abc', 'abc', 'abc', 'abc', '', 'abc')""",
)
OTHERS = {
    "d": "date", "ts": "timestamp", "tz": "timestamptz", "ti": "time", "tj": "timetz",
    "o": "oid", "oi": "int", "ob": "bigint", "ip": "inet", "ci": "cidr", "b3": "bit(3)",
    "vb": "varbit", "am": "amount", "nu": "numeric",
}  # fmt: skip
OTHER_ROWS = (
    """(1, '2024-01-01', '2024-01-01', '2024-01-01 00:00+00', '10:00', '10:00+00', 1, 1, 1,
     '10.0.0.0/8', '10.0.0.0/8', '101', '101', 1, 1.0),
    (2, 'infinity', 'infinity', '-infinity', '24:00', '10:00+01', 4294967295, -1, 4294967295,
     '10.0.0.1', '10.0.0.1/32', '100', '10', 2.5, 2.501),
    (2, '0044-03-15 BC', '2024-02-29 12:00', '2024-02-29 12:00+01', NULL, NULL, NULL, NULL, NULL,
     NULL, NULL, NULL, NULL, NULL, NULL)""",
    """(1, '2024-01-01', '2024-01-01', '2024-01-01 01:00+01', '10:00', '10:00+00', 1, 1, 1,
     '10.0.0.0/8', '10.0.0.0/8', '101', '101', 1, 1.00),
    (2, '2024-02-29', '2024-02-29 11:00', 'infinity', '10:00', '09:00-01', 4294967295, 7, 7,
     '10.0.0.1/24', '10.0.0.1/32', '010', '100', 2.5, 2.5),
    (3, '-infinity', '-infinity', '0044-03-15 00:00+00 BC', NULL, NULL, NULL, NULL, NULL,
     NULL, NULL, NULL, NULL, NULL, NULL)""",
)
# Integers, and text and varchar, are told apart alike.
GROUPS = {
    "numbers": (NUMBERS, NUMBER_ROWS, "f_n i_n r_n r_f b_f r_b n_f s_r n_b".split()),
    "texts": (TEXTS, TEXT_ROWS, "t_c c_e v_a a_t w_c v_c".split()),
    "others": (OTHERS, OTHER_ROWS, "d_ts d_tz ts_tz ti_tj o_oi o_ob ip_ci b3_vb am_nu".split()),
}

# Each gives rows; A and B are columns of l and r.
RELATIONS = (
    "SELECT NUMBER AS q, l.id, NULL::int AS other FROM l WHERE l.A IN (SELECT r.B FROM r)",
    "SELECT NUMBER AS q, l.id, NULL::int AS other FROM l"
    " WHERE NOT EXISTS (SELECT FROM r WHERE r.B = l.A)",
    "SELECT NUMBER AS q, x.id, y.id AS other"
    " FROM (SELECT id, A AS k FROM l) x JOIN (SELECT id, B AS k FROM r) y USING (k)",
    "SELECT NUMBER AS q, count(*) AS id, 0 AS other"
    " FROM (SELECT A FROM l INTERSECT SELECT B FROM r) x",
)
# Each gives a value for a row of l.
VALUES = (
    "l.A IN (SELECT r.B FROM r)",
    "(SELECT count(*) FROM r WHERE r.B = l.A)",
    "(l.A, l.id) = ANY (SELECT r.B, r.id FROM r)",
    "l.A <> ALL (SELECT r.B FROM r WHERE r.id > 2)",
)
# Each gives a value for a row of l and a row of r.
SCALARS = (
    "l.A = r.B", "l.A < r.B", "l.A IS DISTINCT FROM r.B", "NULLIF(l.A, r.B) IS NULL",
    "CASE l.A WHEN r.B THEN 1 ELSE 0 END", "l.A BETWEEN r.B AND r.B", "l.A = ANY (ARRAY[r.B])",
    "(l.A, l.id) >= (r.B, r.id)", "l.A NOT IN (r.B, NULL)",
)  # fmt: skip
CHANGES = (
    "UPDATE l SET id = id + 10 WHERE id < 3; DELETE FROM l WHERE id = 4;"
    " INSERT INTO l SELECT * FROM r WHERE id IN (2, 3);"
    " DELETE FROM r WHERE id = 1; INSERT INTO r SELECT * FROM l WHERE id IN (3, 11)",
)


def over(construct: str, pair: tuple[str, ...], number: int) -> str:
    text = construct.replace("NUMBER", str(number))
    for side, letter, column in zip("lr", "AB", pair, strict=True):
        text = text.replace(f"{side}.{letter}", f"{side}.{column}")
    return text.replace(" A ", f" {pair[0]} ").replace(" B ", f" {pair[1]} ")


def queries(names: list[str]) -> list[str]:
    """Each pair of types by each kind of construct once, in turn; every other pair turned round."""
    pairs = [tuple(name.split("_")[:: -1 if i % 2 else 1]) for i, name in enumerate(names)]
    relations, values, scalars = (
        [over(kind[i % len(kind)], pair, i) for i, pair in enumerate(pairs)]
        for kind in (RELATIONS, VALUES, SCALARS)
    )
    return [
        " UNION ALL ".join(relations),
        f"SELECT l.id, {listed(values)} FROM l",
        f"SELECT l.id, r.id AS other, {listed(scalars)} FROM l, r",
    ]


def listed(items: list[str]) -> str:
    return ", ".join(f"{item} AS c{i}" for i, item in enumerate(items))


@pytest.mark.parametrize("group", GROUPS)
def test_unlike_types_are_compared_as_postgresql_compares_them(ps: PgStream, group: str) -> None:
    columns, rows, names = GROUPS[group]
    ps.execute(TYPES)
    shape = ", ".join(f"{name} {type_}" for name, type_ in columns.items())
    for table, values in zip("lr", rows, strict=True):
        ps.execute(f"CREATE TABLE {table} (id int, {shape})")
        ps.execute(f"INSERT INTO {table} VALUES {values}")
    assert_all_stay_exact(ps, queries(names), CHANGES)


USING = (
    "SELECT k, x.id, y.id AS y, z.id AS z FROM x FULL JOIN y USING (k) LEFT JOIN z USING (k)",
    "SELECT k, x.id, y.id AS y, z.id AS z FROM x FULL JOIN y USING (k) FULL JOIN z USING (k)",
    "SELECT k, k * 3 AS more, y.id AS y FROM x LEFT JOIN y USING (k) WHERE k < 3",
    "SELECT k, k * 3 AS more, x.id, z.id AS z FROM x JOIN y USING (k) RIGHT JOIN z USING (k)",
    "SELECT k, count(*) AS n FROM y RIGHT JOIN x USING (k) GROUP BY k",
)


def test_a_column_of_using_is_what_postgresql_makes_of_it(ps: PgStream) -> None:
    """k is real, numeric or double precision, of one table or of several."""
    for table, type_ in (("x", "numeric(4, 2)"), ("y", "real"), ("z", "double precision")):
        ps.execute(f"CREATE TABLE {table} (id int, k {type_})")
        ps.execute(f"INSERT INTO {table} VALUES (1, 0.1), (2, 1), (3, NULL)")
    ps.execute("INSERT INTO x VALUES (4, 2), (4, 2); INSERT INTO y VALUES (5, 2.5), (6, 7)")
    ps.execute("INSERT INTO z VALUES (7, 2.5), (8, 7), (9, 9), (9, 0.1::real)")
    assert_all_stay_exact(
        ps, USING, ("UPDATE x SET k = 7 WHERE id < 3", "DELETE FROM y WHERE id = 6")
    )
