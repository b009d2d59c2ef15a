"""Indexes on tables of our own, for the columns by which refreshes look rows up."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from contextlib import suppress

import psycopg
from psycopg import sql

from pgstream.algebra.operators.scan import Field
from pgstream.algebra.types import Type
from pgstream.storage.names import COMMA

OF_FEW_BYTES = ("uuid", "oid", '"char"', "time without time zone", "interval")


def index_lookups(
    connection: psycopg.Connection,
    table: sql.Identifier,
    prefix: str,
    looked_up: Iterable[Sequence[Field]],
) -> None:
    """A long text fits no B-tree, so a key of texts only gets an index of hashes. What is computed
    from columns gets none, nor does a type without hashes."""
    for fields in looked_up:
        stored = [field for field in fields if field.sql is None]
        small = [field.name for field in stored if _is_small(field.type)]
        wanted = small or [field.name for field in stored[:1]]
        if wanted:
            suffix = hashlib.sha256("\n".join(wanted).encode()).hexdigest()[:8]
            with suppress(psycopg.errors.UndefinedObject), connection.transaction():
                create_index(connection, table, f"{prefix}_{suffix}", wanted, bool(small))


def create_index(
    connection: psycopg.Connection,
    table: sql.Identifier,
    name: str,
    columns: Sequence[str],
    ordered: bool = True,
) -> None:
    connection.execute(
        sql.SQL("CREATE INDEX IF NOT EXISTS {} ON {} USING {} ({})").format(
            sql.Identifier(name),
            table,
            sql.SQL("btree" if ordered else "hash"),
            COMMA.join(map(sql.Identifier, columns)),
        )
    )


def _is_small(type_: Type) -> bool:
    return type_.is_number or type_.is_time or type_.is_boolean or type_.name in OF_FEW_BYTES
