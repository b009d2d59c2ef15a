"""Answers lowering's questions by asking PostgreSQL; statements are described, not run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import psycopg
from psycopg import sql

from pgstream.algebra.catalog import Relation
from pgstream.algebra.operators.scan import Source
from pgstream.algebra.types import Equality, Type
from pgstream.engine.postgres.constraints import not_null, unique_keys
from pgstream.engine.postgres.equalities import equality_of
from pgstream.engine.postgres.operands import operands
from pgstream.engine.postgres.statistics import frequencies, share
from pgstream.errors import QueryError, UnknownName, UnsupportedConstruct, UnsupportedType
from pgstream.sql.facts import Name, Output

_TYPE = """
WITH RECURSIVE base(oid, typtype, typbasetype, typcategory) AS (
    SELECT oid, typtype, typbasetype, typcategory FROM pg_type WHERE oid = %(oid)s
    UNION ALL SELECT t.oid, t.typtype, t.typbasetype, t.typcategory
    FROM base JOIN pg_type t ON t.oid = base.typbasetype WHERE base.typtype = 'd'
)
SELECT format_type(oid, NULL), format_type(%(oid)s, %(modifier)s), typtype, typcategory
FROM base WHERE typtype <> 'd'
"""
_IS_DETERMINISTIC = "SELECT collisdeterministic FROM pg_collation WHERE oid = %s::regcollation"
_COLUMNS = """
SELECT a.attname, a.atttypid, a.atttypmod, coalesce(c.collname, ''), c.collisdeterministic,
       coalesce(c.collprovider, '') = 'd' AS is_default,
       quote_ident(n.nspname) || '.' || quote_ident(c.collname)
FROM pg_attribute a LEFT JOIN pg_collation c ON c.oid = a.attcollation
LEFT JOIN pg_namespace n ON n.oid = c.collnamespace
WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
_COLLATION = """
SELECT (SELECT format('%I.%I', n.nspname, c.collname)
        FROM pg_collation c JOIN pg_namespace n ON n.oid = c.collnamespace
        WHERE c.oid = asked.name::regcollation)
FROM (SELECT CASE WHEN t.typcollation <> 0 THEN pg_collation_for({column}) END AS name
      FROM (SELECT 1) one LEFT JOIN ({query}) q ON false
      LEFT JOIN pg_type t ON t.oid = pg_typeof({column})) asked
"""
_NAMES = """
SELECT format_type(t.oid, NULL), t.typcollation <> 0
FROM unnest(%s::oid[]) WITH ORDINALITY asked(oid, n) JOIN pg_type t ON t.oid = asked.oid
ORDER BY asked.n
"""
# Functions that return rows, and others of their names.
_RETURNING_ROWS = """
WITH named AS (
    SELECT n.nspname, p.*, bool_or(p.proretset) OVER (PARTITION BY p.pronamespace, p.proname) AS one
    FROM unnest(%s::text[], %s::text[]) asked(schema, name)
    JOIN pg_namespace n ON n.nspname = asked.schema
    JOIN pg_proc p ON p.pronamespace = n.oid AND p.proname = asked.name
), shaped AS (
    SELECT nspname, proname, proretset, coalesce(
        (SELECT array_agg(o.name ORDER BY o.n)
         FROM unnest(proargnames, proargmodes) WITH ORDINALITY o(name, mode, n)
         WHERE o.mode IN ('o', 'b', 't') HAVING count(*) > 1),
        (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_type t
         JOIN pg_attribute a ON a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped
         WHERE t.oid = prorettype), '{}') AS columns
    FROM named WHERE one
)
SELECT DISTINCT nspname, proname, proretset, columns FROM shaped
"""
DEFAULT_COLLATION = 'pg_catalog."default"'
FIRST_OWN_ID = 16384
"""The first oid that PostgreSQL gives to what users create."""
BINARY_COLLATIONS = frozenset(("C", "POSIX", "C.UTF-8", "C.utf8", "ucs_basic", "pg_c_utf8"))


class PostgresCatalog:
    """The catalog that a query is lowered against.

    `used` names, per relid, the columns that the query reads; `streams` are the relids of
    stream tables. `numerics_as_text`: no numeric is one that Spark computes on.
    """

    def __init__(
        self,
        connection: psycopg.Connection,
        used: Mapping[int, frozenset[str]],
        streams: frozenset[int],
        numerics_as_text: bool = False,
    ) -> None:
        self.connection = connection
        self.numerics_as_text = numerics_as_text
        self.used = used
        self.streams = streams
        self._types: dict[tuple[int, int], Type] = {}
        self._operands: dict[tuple[str, str], tuple[Type, Type]] = {}
        self._trusted: set[int] = set()
        row = connection.execute(
            "SELECT coalesce(to_jsonb(d) ->> 'datlocale', to_jsonb(d) ->> 'daticulocale',"
            " d.datcollate) FROM pg_database d WHERE datname = current_database()"
        ).fetchone()
        name = row[0] if row else ""
        self.default_collation = "" if name in BINARY_COLLATIONS else name

    def relation(self, schema: str, name: str) -> Relation:
        row = self.connection.execute(
            "SELECT c.oid::bigint, n.nspname, c.relname FROM pg_class c"
            " JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = %s AND c.relname = %s",
            (schema, name),
        ).fetchone()
        if row is None:
            raise UnknownName(f"Table {schema}.{name} does not exist.")
        relid = row[0]
        source = Source(relid, row[1], row[2], relid in self.streams)
        columns = []
        for (
            column,
            type_id,
            modifier,
            collation,
            deterministic,
            is_default,
            clause,
        ) in self.connection.execute(_COLUMNS, (relid,)).fetchall():
            type_ = self._type(type_id, modifier)
            if collation and not is_default:
                type_ = collated(type_, clause)
            if deterministic is False:
                type_ = replace(type_, equality=Equality.UNKNOWN)
            columns.append((column, type_))
            if column in self.used.get(relid, ()):
                self._require_trusted(type_id)
            if deterministic is False and column in self.used.get(relid, ()):
                raise UnsupportedType(
                    f"The column {column} of {schema}.{name} has the collation {collation}, which "
                    "is not deterministic; Spark compares bytes.",
                    hint="Leave the column out, or use a deterministic collation for it.",
                )
        key = self.connection.execute(
            "SELECT a.attname FROM pg_index i JOIN pg_attribute a"
            " ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)"
            " WHERE i.indrelid = %s AND i.indisprimary",
            (relid,),
        ).fetchall()
        used = self.used.get(relid, frozenset())
        primary = frozenset(name for (name,) in key)
        return Relation(source, tuple(columns), used, primary, frequencies(self.connection, source))

    def unique_keys(self, source: Source) -> list[frozenset[str]]:
        found = unique_keys(self.connection, (source.relid,))
        return [frozenset(names) for _, names in found]

    def not_null(self, source: Source) -> list[str]:
        return [name for _, name in not_null(self.connection, (source.relid,))]

    def share(self, source: Source, condition: str) -> float:
        return share(self.connection, source, condition)

    def type_of(self, text: str, columns: Mapping[int, Type]) -> Type:
        nulls = ", ".join(f"CAST(NULL AS {t.declared}) AS c{i}" for i, t in columns.items())
        return self._expression(text, f"(SELECT {nulls or '1 AS one'}) s")

    def operands(self, left: Type, right: Type) -> tuple[Type, Type]:
        pair = (left.declared, right.declared)
        if pair not in self._operands:
            types = {0: left, 1: right}
            first, second = (self.type_of(side, types) for side in operands(self.connection, *pair))
            self._operands[pair] = first, second
        return self._operands[pair]

    def row_of(self, text: str, columns: Mapping[int, Type]) -> tuple[tuple[str, Type], ...]:
        nulls = "".join(f"CAST(NULL AS {t.declared}) AS c{i}, " for i, t in columns.items())
        rows = f"WITH __pgs_rows AS (SELECT {nulls}1::bigint AS w) {text}"
        described = self._described(rows)
        return tuple(
            ((described.fname(i) or b"").decode(),
             self._type(described.ftype(i), described.fmod(i)))
            for i in range(described.nfields)
        )  # fmt: skip

    def constant(self, text: str) -> tuple[str | None, Type]:
        row = self.connection.execute(f"SELECT ({text})::text".encode()).fetchone()
        assert row is not None
        return row[0], self._describe(f"SELECT {text}")

    def collation(self, query: str, column: str) -> str | None:
        """Asked of a row that no row of the query joins: PostgreSQL plans it, reads nothing."""
        row = self.connection.execute(
            sql.SQL(_COLLATION).format(query=sql.SQL(query), column=sql.Identifier("q", column))
        ).fetchone()
        return row[0] if row else None

    def field_type(self, source: Source, text: str) -> Type:
        """Text may have the collation of a column that has one of its own."""
        table = sql.Identifier(source.schema, source.name).as_string(self.connection)
        type_ = self._expression(text, table)
        if not type_.is_text or is_collated(text):
            return type_
        columns = self.relation(source.schema, source.name).columns
        if not any(t.collate for _, t in columns):
            return type_
        return collated(type_, self.collation(f"SELECT {text} AS x FROM {table}", "x"))

    def outputs(self, query: str) -> tuple[Output, ...]:
        described = self._described(query)
        names = [(described.fname(i) or b"").decode() for i in range(described.nfields)]
        types = [described.ftype(i) for i in range(described.nfields)]
        rows = self.connection.execute(_NAMES, (types,)).fetchall()
        return tuple(
            Output(name, type_, self.own_collation(query, name) if is_collatable else None)
            for name, (type_, is_collatable) in zip(names, rows, strict=True)
        )

    def own_collation(self, query: str, column: str) -> str | None:
        name = self.collation(query, column)
        return None if name == DEFAULT_COLLATION else name

    def returning_rows(self, functions: Sequence[Name]) -> dict[Name, list[tuple[str, ...]]]:
        schemas, names = ([function[i] for function in functions] for i in (0, 1))
        found: dict[Name, list[tuple[str, ...]]] = {}
        for schema, name, returns_rows, columns in self.connection.execute(
            _RETURNING_ROWS, (schemas, names)
        ).fetchall():
            if not returns_rows:
                raise UnsupportedConstruct(
                    f"Some of the functions that are named {schema}.{name} return rows, others "
                    "do not.",
                    construct=name,
                    hint="Give them different names.",
                )
            found.setdefault((schema, name), []).append(tuple(columns))
        return found

    def _expression(self, text: str, source: str) -> Type:
        """The type of an expression; how text is compared may be written into it."""
        type_ = self._describe(f"SELECT {text} FROM {source}")
        if not (type_.is_text and is_collated(text)):
            return type_
        name = self.collation(f"SELECT {text} AS x FROM {source}", "x")
        type_ = collated(type_, name)
        row = self.connection.execute(_IS_DETERMINISTIC, (name,)).fetchone() if name else None
        if row is not None and not row[0]:
            return replace(type_, equality=Equality.UNKNOWN)
        return type_

    def _describe(self, text: str) -> Type:
        described = self._described(text)
        self._require_trusted(described.ftype(0))
        return self._type(described.ftype(0), described.fmod(0))

    def _described(self, text: str) -> psycopg.pq.abc.PGresult:
        pgconn = self.connection.pgconn
        prepared = pgconn.prepare(b"", text.encode())
        if prepared.status != psycopg.pq.ExecStatus.COMMAND_OK:
            raise QueryError(
                "PostgreSQL does not accept a part of the query.",
                detail=prepared.error_message.decode(errors="replace").strip(),
            )
        return pgconn.describe_prepared(b"")

    def _require_trusted(self, type_id: int) -> None:
        """A type's owner can give it casts, which would run with our rights. That was checked
        when the stream table was created, but a column may have got another type since."""
        if type_id >= FIRST_OWN_ID and type_id not in self._trusted:
            self.connection.execute("SELECT pgstream._require_trusted_type(%s)", (type_id,))
            self._trusted.add(type_id)

    def _type(self, type_id: int, modifier: int) -> Type:
        found = self._types.get((type_id, modifier))
        if found is None:
            row = self.connection.execute(_TYPE, {"oid": type_id, "modifier": modifier}).fetchone()
            if row is None:
                raise UnsupportedType(f"Type {type_id} is unknown.")
            name, declared, kind, category = row
            if kind == "p" and name != "unknown":
                raise UnsupportedType(
                    f"A value of type {declared} cannot be stored.",
                    hint="Use the values that it is made of, such as GROUP BY a, b instead of"
                    " GROUP BY ROW(a, b), or cast it to a composite type.",
                )
            if name == "unknown":
                found = Type("text", "text", "S")
            else:
                equality = equality_of(self.connection, type_id, modifier)
                found = Type(name, declared, category, equality=equality)
            if found.is_text:
                found = replace(found, collation=self.default_collation)
            if found.is_numeric and self.numerics_as_text:
                found = replace(found, as_text=True)
            self._types[type_id, modifier] = found
        return found


def collated(type_: Type, clause: str | None) -> Type:
    """Text of the collation that is named, qualified and quoted."""
    bare = (clause or "").rpartition(".")[2].strip('"')
    if clause is None or bare == "default":
        return type_
    return replace(type_, collation="" if bare in BINARY_COLLATIONS else bare, collate=clause)


def is_collated(text: str) -> bool:
    return "COLLATE" in text.upper()
