"""OneRow: a single row without columns, the input of a SELECT without FROM. It never changes."""

from __future__ import annotations

from dataclasses import dataclass

from pgstream.algebra.operators.node import Column, Node


@dataclass(frozen=True, eq=False)
class OneRow(Node):
    @property
    def columns(self) -> tuple[Column, ...]:
        return ()
