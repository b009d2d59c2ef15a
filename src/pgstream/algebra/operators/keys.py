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
from typing import TYPE_CHECKING

from pgstream.algebra.operators.negate import negate, seen_by
from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.operators.scan import Stored
from pgstream.algebra.operators.union_all import add

if TYPE_CHECKING:
    from pgstream.algebra.differentiate import Differential


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True, eq=False)
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


def local_delta(
    node: Node, input: Node, keys: tuple[int, ...], change: Differential
) -> Node | None:
    """The key-local rule: Δ F(A) = F(A after ⋉ K) − F(A before ⋉ K), K = keys(Δ A)."""
    inner = change.delta(input)
    if inner is None:
        return None
    after, before = change.after(input), change.before(input)
    if keys:
        touched = Keys(inner, keys)
        after = change.restrict(after, keys, touched)
        before = change.restrict(before, keys, touched)
    after, before = seen_by(node, after), seen_by(node, before)
    return add(node.with_inputs(after), negate(node.with_inputs(before)))
