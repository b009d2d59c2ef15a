"""Writes docs/reference/functions.md from Spark's list and PostgreSQL's catalog.

    python docs/generate_functions.py

A test compares the file with what this gives. The functions are those of the embedded server.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from pgstream.algebra.expressions import Call, Expression, Literal, Ref
from pgstream.algebra.placement.spark_list import SPARK_LIST
from pgstream.algebra.types import BOOLEAN, INTEGER, TEXT, Type, named
from pgstream.database import migrate
from pgstream.database.connection import Connection, connect
from pgstream.database.embedded import EmbeddedServer

FILE = Path(__file__).parent / "reference" / "functions.md"
TYPES = tuple(
    named(name, category)
    for category, names in {
        "N": "smallint,integer,bigint,numeric,real,double precision",
        "B": "boolean",
        "S": "text,character varying,character",
        "D": "date,timestamp without time zone,timestamp with time zone,time without time zone",
        "U": "uuid,bytea,jsonb",
        "T": "interval",
        "I": "inet",
        "A": "integer[]",
        "R": "int4range",
    }.items()
    for name in names.split(",")
)
TESTS = frozenset(n for n in SPARK_LIST if n.startswith("is ") and not n.endswith("from"))
UNARY = TESTS | {"negate", "abs", "not", "length"}
VALUE_FUNCTIONS = (
    "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP",
    "CURRENT_ROLE", "CURRENT_USER", "USER", "SESSION_USER", "CURRENT_CATALOG", "CURRENT_SCHEMA",
)  # fmt: skip
FORMS = (
    "LIKE", "ILIKE", "SIMILAR TO", "BETWEEN SYMMETRIC", "op ANY (array)", "op ALL (array)",
    "OVERLAPS", "EXTRACT", "AT TIME ZONE", "SUBSTRING", "OVERLAY", "POSITION", "TRIM",
    "NORMALIZE", "IS NORMALIZED", "COLLATE", "ARRAY[...]", "array[i]", "array[i:j]", "ROW(...)",
    "(row).field", "row = row", "IS JSON", "JSON_OBJECT", "JSON_ARRAY", "JSON", "JSON_SCALAR",
    "JSON_SERIALIZE", "JSON_VALUE", "JSON_QUERY", "JSON_EXISTS",
)  # fmt: skip
# What a user calls: no parts of operators, casts, indexes, aggregates or types.
FUNCTIONS = """
SELECT DISTINCT p.proname::text, p.provolatile::text,
       p.proname::text = ANY (pgstream._settled_functions())
  FROM pg_proc p
 WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f'
   AND NOT EXISTS (SELECT FROM pg_operator o
                    WHERE p.oid IN (o.oprcode, o.oprrest, o.oprjoin) AND p.proname <> 'timezone')
   AND NOT EXISTS (SELECT FROM pg_cast c WHERE c.castfunc = p.oid AND p.proname::text NOT IN
                   ('date', 'lower', 'text'))
   AND NOT EXISTS (SELECT FROM pg_amproc a WHERE a.amproc = p.oid)
   AND NOT EXISTS (SELECT FROM pg_aggregate a WHERE p.oid IN (
           a.aggtransfn, a.aggfinalfn, a.aggcombinefn, a.aggserialfn, a.aggdeserialfn,
           a.aggmtransfn, a.aggminvtransfn, a.aggmfinalfn))
   AND NOT EXISTS (SELECT FROM pg_type t WHERE p.oid IN (
           t.typinput, t.typoutput, t.typreceive, t.typsend, t.typmodin, t.typmodout,
           t.typanalyze, t.typsubscript))
   AND p.prorettype::regtype::text NOT IN ('internal', 'trigger', 'event_trigger', 'cstring',
       'void', 'table_am_handler', 'index_am_handler', 'language_handler', 'tsm_handler',
       'fdw_handler')
   AND NOT p.proargtypes::oid[] && ARRAY['internal'::regtype, 'cstring'::regtype]::oid[]
   AND p.proname::text !~ '^(binary_upgrade|pg_|has_|txid_|ts_typ|gin|gist|brin|spg|hash|fmgr|lo_|'
                    'be_lo|float[48]_|int[248]_|interval_|time|date_[a-z]+_time|bt|array_sub|'
                    'jsonb?_[a-z_]*fn$|in_range|.*(_support|validator|handler|_extended|cmp|larger'
                    '|smaller|_accum|_avg|_sum|sk?ipsupport)$)'
 ORDER BY 1
"""
OPERATORS = """
SELECT DISTINCT o.oprname::text
  FROM pg_operator o JOIN pg_proc p ON p.oid = o.oprcode
 WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprname !~ '^[~<>=*^]{2}~|~[<>]|\\*[<>=]'
 ORDER BY 1
"""


def typical(function: str, type_: Type) -> Call:
    """A call of the function over values of the type."""
    value: Expression = Ref(0, type_)
    if function == "case":
        return Call(function, (Literal("t", BOOLEAN), value, value), type_)
    if function == "split_part":
        return Call(function, (value, Literal(",", TEXT), Literal("1", INTEGER)), TEXT)
    return Call(function, (value,) if function in UNARY else (value, value), type_)


def admitted(function: str) -> str:
    """The types for which Spark computes the function, in words."""
    if function == "cast":
        targets = {source: _targets(source) for source in TYPES}
        return "; ".join(f"{source} to {', '.join(t)}" for source, t in targets.items() if t)
    admits = SPARK_LIST[function]
    fine = [t.name for t in TYPES if admits(typical(function, t))]
    return "any" if len(fine) == len(TYPES) else ", ".join(fine)


def _targets(source: Type) -> list[str]:
    admits = SPARK_LIST["cast"]
    calls = [Call("cast", (Ref(0, source),), target) for target in TYPES if target != source]
    return [call.type.name for call in calls if admits(call)]


def code(names: list[str]) -> str:
    return " ".join(f"`{name}`".replace("|", r"\|") for name in names)


def document(connection: Connection) -> str:
    """The whole text, from a server on which pgstream is installed."""
    functions = [(n, v, s) for n, v, s in connection.execute(FUNCTIONS).fetchall()]
    fixed = {n for n, v, _ in functions if v == "i"}
    settled = {n for n, v, s in functions if v == "s" and s}
    changing = {n for n, v, s in functions if (v == "s" and not s) or v == "v"} - fixed - settled
    operators = [name for (name,) in connection.execute(OPERATORS).fetchall()]
    rows = [f"| {code([name])} | {admitted(name)} |" for name in SPARK_LIST]
    return "\n".join(
        [
            "# Functions and operators",
            "",
            "This file is generated: `python docs/generate_functions.py`. It says who computes"
            " what. The value is PostgreSQL's whoever computes it. Aggregates and window functions"
            " are in [SQL](sql.md).",
            "",
            "| way | when |",
            "|---|---|",
            "| Spark | all parts of the expression are on its list, with the types named there |",
            "| PostgreSQL, in the scan | it is not, and reads columns of one table in FROM |",
            "| PostgreSQL, over rows handed over | it is not, and reads several tables, or what"
            " Spark computed |",
            "| refused | its value changes though no row does; FULL mode accepts it, and AUTO"
            " becomes FULL |",
            "",
            "Of an expression the largest part that reads one table goes into its scan. `explain`"
            " shows it among the columns of the scan, and the third way as `ByPostgres`.",
            "",
            "## On Spark",
            "",
            "| expression | types |",
            "|---|---|",
            *rows,
            "",
            "Numbers are of one kind: integers, `numeric`, `real` or `double precision`;"
            " PostgreSQL writes the casts that make them so. Numerics of declared scale are"
            " divided by PostgreSQL. Casts to `varchar(n)` and `numeric(p, s)` are Spark's, to"
            " domains and other types with a length PostgreSQL's. Text is compared for order"
            " where its collation orders by bytes.",
            "",
            "## By PostgreSQL",
            "",
            "In the scan, or over rows handed over: whatever is not above, with any types;"
            " IMMUTABLE functions of yours; and of PostgreSQL's:",
            "",
            f"- forms: {code(list(FORMS))}",
            f"- operators: {code(operators)}; and your own, whose functions are IMMUTABLE",
            f"- functions: {code(sorted(fixed))}",
            "",
            "These are STABLE because they follow the settings of the session. pgstream's sessions"
            " have `TimeZone` UTC, `DateStyle` ISO and `IntervalStyle` postgres, so their value"
            " does not change; creation gives a warning:",
            "",
            f"- {code(sorted(settled - fixed))}; and for `timestamptz`, the functions above that"
            " take a time",
            "",
            "## Refused",
            "",
            "In DIFFERENTIAL mode, with PGS-0210:",
            "",
            f"- {code(list(VALUE_FUNCTIONS))}",
            f"- {code(sorted(changing))}",
            "- functions about the server, its sessions and its catalog: `pg_…`, `has_…`, `txid_…`,"
            " `lo_…`",
            "- your own functions that are VOLATILE or STABLE, also in a view, behind an operator"
            " or in the default of an argument",
            "",
        ]
    )


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as home,
        EmbeddedServer.start(home) as server,
        connect(server.dsn) as connection,
    ):
        migrate.install(connection)
        FILE.write_text(document(connection), encoding="utf-8")


if __name__ == "__main__":
    main()
