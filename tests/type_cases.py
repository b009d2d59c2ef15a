"""Values of every type: two spellings of one value, and another value."""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    """Two spellings of one value, another value, and whether MIN and MAX take the type."""

    type: str
    first: str
    second: str
    other: str
    ordered: bool = True


TYPES = """
CREATE SCHEMA "My Types";
CREATE TYPE "My Types"."Mood" AS ENUM ('so so', 'good', 'BAD');
CREATE TYPE plain_pair AS (n int, "Some Text" text);
CREATE TYPE "My Types"."Pair" AS (amount numeric, span interval, mood "My Types"."Mood");
CREATE TYPE float_range AS RANGE (subtype = float8);
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE DOMAIN very_positive AS positive CHECK (VALUE > 1);
CREATE DOMAIN price AS numeric(8, 2);
CREATE DOMAIN span AS interval;
CREATE DOMAIN tags AS text[];
"""

CASES = [
    Case("smallint", "1", "01", "-1"),
    Case("integer", "1", "+1", "2"),
    Case("bigint", "9223372036854775807", "9223372036854775807", "9223372036854775806"),
    Case("numeric", "1.0", "1.00", "1.01"),
    Case("numeric(10,2)", "1.5", "1.50", "-1.5"),
    Case("real", "0", "-0", "NaN"),
    Case("double precision", "NaN", "nan", "-Infinity"),
    Case("boolean", "true", "t", "f", ordered=False),
    Case("text", "a", "a", "a "),
    Case("varchar(10)", "", "", " "),
    Case("char(5)", "a", "a  ", "b"),
    Case('"char"', "a", "a", "A", ordered=False),
    Case("name", "a", "a", "b", ordered=False),
    Case("bytea", "\\x00ff", "\\x00FF", "\\x00", ordered=False),
    Case("uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "A0EEBC999C0B4EF8BB6D6BB9BD380A11",
         "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12", ordered=False),
    Case("date", "2024-02-29", "20240229", "infinity"),
    Case("time", "10:00", "10:00:00.000", "24:00"),
    Case("timetz", "12:00+00", "12:00:00.0+00:00", "13:00+01"),
    Case("timestamp", "2024-01-01", "2024-01-01T00:00:00.000", "-infinity"),
    Case("timestamptz", "2024-01-01 12:00+00", "2024-01-01 17:30+05:30", "2024-01-01 12:00+01"),
    Case("interval", "30 days", "1 mon", "29 days 23:59:59"),
    Case("jsonb", '{"a": 1.0, "b": [null, 2]}', '{"b": [null, 2.00], "a": 1}', '{"a": "1.0"}',
         ordered=False),
    Case('"My Types"."Mood"', "so so", "so so", "BAD"),
    Case("positive", "1", "01", "2"),
    Case("very_positive", "2", "02", "3"),
    Case("price", "1", "1.000", "1.01"),
    Case("span", "36:00", "1 day 12:00", "36:01"),
    Case("tags", "{a,NULL}", '{"a",null}', "{a,b}"),
    Case("int[]", "{1,2}", "[1:2]={1,2}", "[0:1]={1,2}"),
    Case("text[]", '{{a,"b c"},{"\\"",""}}', '{{a,b\\ c},{"\\"",""}}', "{}"),
    Case("numeric[]", "{1.0,NULL,2}", "{1.00,NULL,2.0}", "{1,2}"),
    Case("numeric(5,2)[]", "{1}", "{1.0}", "{1.01}"),
    Case("float8[]", "{{0},{NaN}}", "{{-0},{NaN}}", "{{0},{1}}"),
    Case("interval[]", '{30 days}', '{720:00}', "{NULL}"),
    Case("jsonb[]", '{"{\\"x\\": 1.10}"}', '{"{\\"x\\": 1.1}"}', '{"{\\"x\\": \\"1.10\\"}"}'),
    Case("char(3)[]", "{a}", '{"a "}', "{b}"),
    Case("bpchar[]", "{a}", '{"a "}', "{b}"),
    Case('"My Types"."Mood"[]', '{"so so"}', '{so\\ so}', "{good}"),
    Case("timestamptz[]", '{"2024-01-01 12:00+00"}', '{"2024-01-01 13:00+01"}', "{infinity}"),
    Case("plain_pair", '(1,"a, b")', '( 1 ,"a, b")', "(,)", ordered=False),
    Case('"My Types"."Pair"', '(1.0,30 days,good)', '(1.00,1 mon,good)', "(1.0,30 days,)",
         ordered=False),
    Case('"My Types"."Pair"[]', '{"(1.0,30 days,good)"}', '{"(1,1 mon,good)"}', "{NULL}",
         ordered=False),
    Case("int4range", "[1,5)", "[1,4]", "empty", ordered=False),
    Case("numrange", "[1.0,2.50)", "[1,2.5)", "[1,2.5]", ordered=False),
    Case("tstzrange", "[2024-01-01 12:00+00,)", "[2024-01-01 13:00+01,]", "(,)", ordered=False),
    Case("float_range", "[0,1)", "[-0,1)", "[0,1]", ordered=False),
    Case("int4multirange", "{[1,3),[3,5)}", "{[1,5)}", "{}", ordered=False),
    Case("nummultirange", "{[1.0,2)}", "{[1,2.00)}", "{[1,3)}", ordered=False),
    Case("inet", "10.0.0.1", "10.0.0.1/32", "10.0.0.1/24"),
    Case("cidr", "10.0.0.0/8", "10/8", "10.0.0.0/9"),
    Case("macaddr", "08:00:2b:01:02:03", "08-00-2B-01-02-03", "08:00:2b:01:02:04", ordered=False),
    Case("macaddr8", "08:00:2b:01:02:03:04:05", "08002b0102030405", "08:00:2b:01:02:03:04:06",
         ordered=False),
    Case("bit(3)", "101", "b101", "100", ordered=False),
    Case("varbit", "101", "b101", "1010", ordered=False),
    Case("oid", "1", "01", "4294967295"),
    Case("xid8", "1", "1", "18446744073709551615"),
    Case("money", "1.00", "$1", "-1"),
    Case("pg_lsn", "0/10", "0/00000010", "1/10"),
    Case("tsvector", "a:1 b:2A", "b:2A a:1", "a:1 b:2B", ordered=False),
]  # fmt: skip
WITHOUT_EQUALITY = [
    Case("json", '{"a": 1.0}', '{"a":1.0}', "null"),
    Case("point", "(1,2)", "(1,3)", "(2,1)"),
    Case("json[]", '{"{\\"a\\": 1}"}', '{"{ \\"a\\": 1}"}', "{null}"),
]


def literal(text: str | None) -> str:
    return "NULL" if text is None else "'" + text.replace("'", "''") + "'"
