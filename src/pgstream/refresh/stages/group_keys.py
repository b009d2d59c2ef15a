"""The keys of groups, read from the committing transaction."""

from __future__ import annotations

from collections.abc import Sequence

from pgstream.algebra.operators.node import Column
from pgstream.algebra.operators.scan import Field
from pgstream.database.quoting import Composed, Name
from pgstream.engine.postgres.queries import ONE, reading_query
from pgstream.engine.postgres.reading import read_rows
from pgstream.engine.rows import Rows
from pgstream.refresh.stages.work import Tools


def read_keys(tools: Tools, keys: Sequence[Column], groups: Name | Composed) -> Rows:
    fields = [Field(key.name, key.type) for key in keys]
    return read_rows(tools.connections.apply, fields, reading_query(fields, groups, None, ONE))
