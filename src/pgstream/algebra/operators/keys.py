"""Reading by key.

    Keys(A, c)          the distinct values of the columns c of A
    KeyFilter(A, c, K)  A ⋉ K: the rows of A whose columns c are in K
    Lookup(R, c, K)     the same for a stored table: PostgreSQL reads just those rows

Keys compare with IS NOT DISTINCT FROM. Where SQL says that NULLs do not match (join
equality) `nulls` is false, and keys with a NULL are dropped.
A `Keys` may hold more keys than the change needs: every rule stays exact as long as each
key is there with all its rows or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.operators.scan import Stored


@dataclass(frozen=True)
class Keys(Node):
    input: Node
    indexes: tuple[int, ...]
    nulls: bool = True

    @property
    def columns(self) -> tuple[Column, ...]:
        columns = self.input.columns
        return tuple(columns[i] for i in self.indexes)

    def pick(self, places: tuple[int, ...]) -> Keys:
        """The same keys with only these of their columns."""
        return Keys(self.input, tuple(self.indexes[p] for p in places), self.nulls)


@dataclass(frozen=True)
class KeyFilter(Node):
    input: Node
    indexes: tuple[int, ...]
    keys: Keys

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns


@dataclass(frozen=True)
class Lookup(Node):
    stored: Stored
    indexes: tuple[int, ...]
    keys: Keys

    @property
    def inputs(self) -> tuple[Node, ...]:
        return ()

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.stored.columns
