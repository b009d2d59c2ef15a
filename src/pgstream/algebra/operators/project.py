"""Project: one expression per output column; duplicates stay.

Δ π(A) = π(Δ A)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from pgstream.algebra.expressions import (
    Expression,
    Literal,
    Ref,
    choices,
    in_form,
    plain_column,
    values_read,
)
from pgstream.algebra.operators.by_postgres import computed
from pgstream.algebra.operators.key_filter import through_kept
from pgstream.algebra.operators.node import (
    Column,
    Keys,
    Node,
    Origin,
    Refusal,
    Restrict,
    Retype,
    in_words,
)
from pgstream.algebra.operators.row_local import RowLocal


@dataclass(frozen=True, eq=False)
class Project(RowLocal):
    expressions: tuple[Expression, ...]
    names: tuple[str, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        pairs = zip(self.names, self.expressions, strict=True)
        return tuple(Column(name, expression.type) for name, expression in pairs)

    def describe(self) -> str:
        texts = [in_words(e, self.input.columns) for e in self.expressions]
        pairs = zip(texts, self.names, strict=True)
        items = [name if text == name else f"{text} AS {name}" for text, name in pairs]
        return f"Project {', '.join(items)}"

    def restrict(self, indexes: tuple[int, ...], keys: Keys, down: Restrict) -> Node | None:
        kept = [plain_column(expression) for expression in self.expressions]
        return through_kept(self, kept, indexes, keys, down)

    def origins_of(self, index: int) -> tuple[Origin, ...]:
        column = plain_column(self.expressions[index])
        return () if column is None else (Origin(0, column),)

    @property
    def only_arranges(self) -> bool:
        return True

    # --- who evaluates what -------------------------------------------------------------------

    def legalized(self, refusal: Refusal) -> Node:
        refused = any(map(refusal, self.expressions))
        return computed(self.input, self.expressions, self.names) if refused else self

    def with_computed(self, index: int, compute: Callable[[Any], Any]) -> tuple[Node, int] | None:
        value = self.expressions[index]
        found = self.input.with_computed(value.index, compute) if isinstance(value, Ref) else None
        if found is None:
            return None
        inner, column = found
        name, type_ = inner.columns[column].name, inner.columns[column].type
        more = (*self.expressions, Ref(column, type_))
        return Project(inner, more, (*self.names, name)), len(self.expressions)

    def flows(self, index: int) -> tuple[Origin, ...]:
        chosen, _ = choices(self.expressions[index])
        return tuple(Origin(0, part.index) for part in chosen if isinstance(part, Ref))

    def computes(self, index: int) -> bool:
        chosen, _ = choices(self.expressions[index])
        return not all(isinstance(part, Ref | Literal) for part in chosen)

    @property
    def reads(self) -> Iterator[Origin]:
        """A column that is only chosen is taken over as it is."""
        for chosen, tested in map(choices, self.expressions):
            for part in (*tested, *(p for p in chosen if not isinstance(p, Ref))):
                yield from (Origin(0, column) for column in values_read(part))

    def retyped(self, retype: Retype) -> Node:
        types = [column.type for column in self.input.columns]
        values = [in_form(e, types, retype(i, e.type)) for i, e in enumerate(self.expressions)]
        return replace(self, expressions=tuple(values))


def pick(node: Node, indexes: tuple[int, ...]) -> Project:
    """The columns at these indexes, in this order."""
    columns = node.columns
    return Project(
        node,
        tuple(Ref(i, columns[i].type) for i in indexes),
        tuple(columns[i].name for i in indexes),
    )
