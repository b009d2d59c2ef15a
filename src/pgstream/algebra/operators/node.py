"""What every operator of the tree has: input trees and output columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any
from weakref import WeakValueDictionary

from pgstream.algebra.types import Type


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: Type


_known: WeakValueDictionary[tuple[Any, ...], Any] = WeakValueDictionary()


class Interned(type):
    """Equal trees are one object. A delta tree holds the same parts in many places; so these
    are compared and looked up in no time, and each is computed once."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__call__(*args, **kwargs)
        return _known.setdefault((cls, *vars(made).values()), made)


@dataclass(frozen=True, eq=False)
class Node(metaclass=Interned):
    """A relation: a Z-set with these columns and a weight."""

    @property
    def columns(self) -> tuple[Column, ...]:
        raise AssertionError(f"{type(self).__name__} states no columns")

    @property
    def inputs(self) -> tuple[Node, ...]:
        found: list[Node] = []
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Node):
                found.append(value)
            elif isinstance(value, tuple):
                found.extend(v for v in value if isinstance(v, Node))
        return tuple(found)

    @property
    def needs_positive_input(self) -> bool:
        """Whether it must see rows that exist: no weight is negative, once equal rows meet."""
        return False

    @property
    def output_is_positive(self) -> bool:
        """Whether it gives rows that exist, though weights of both signs meet below."""
        return self.needs_positive_input

    def with_inputs(self, *inputs: Node) -> Node:
        remaining = list(inputs)
        changed: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Node):
                changed[field.name] = remaining.pop(0)
            elif isinstance(value, tuple) and value and isinstance(value[0], Node):
                changed[field.name] = tuple(remaining.pop(0) for _ in value)
        return replace(self, **changed)

    def walk(self) -> Iterator[Node]:
        """The node and all that it is made of, each once."""
        seen: set[Node] = set()
        waiting: list[Node] = [self]
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                yield node
                waiting.extend(reversed(node.inputs))
