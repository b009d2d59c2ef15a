"""Leaf: what operators have in common that read no other node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pgstream.algebra.operators.node import IsEmpty, Keys, Node, Origin, Restrict


@dataclass(frozen=True, eq=False)
class Leaf(Node):
    """It reads no other node."""

    @property
    def inputs(self) -> tuple[Node, ...]:
        return ()

    def restrict(self, indexes: tuple[int, ...], keys: Keys, down: Restrict) -> Node | None:
        return None

    def origins_of(self, index: int) -> tuple[Origin, ...]:
        return ()

    def rows_per_key(self, indexes: tuple[int, ...]) -> float:
        """Few: it is a change, or made of one."""
        return 1.0

    def rows_without_key(self, indexes: tuple[int, ...]) -> float:
        return 0.0

    def gives_nothing(self, is_empty: IsEmpty) -> bool:
        return False

    @property
    def reads(self) -> Iterator[Origin]:
        yield from ()
