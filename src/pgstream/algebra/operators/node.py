"""Node: what every operator of a tree is, and all that is asked about it.

The drivers (differentiate, restrict, trace, legalize, carry, push_down, draw …) are loops over
nodes. An operator answers in its own file; what it must answer is abstract, so that an operator
without an answer cannot be built. `Keys` stand here because nodes are restricted by them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self

from pgstream.algebra.expressions import Expression, to_postgres, travelling, values_read
from pgstream.algebra.operators.expectation import Expectation
from pgstream.algebra.operators.interned import Interned
from pgstream.algebra.types import Type
from pgstream.errors import UnsupportedExpression


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: Type


class Origin(NamedTuple):
    """A column of an input: the number of the input, and the column's index in it."""

    input: int
    column: int


# --- what the drivers pass to a node --------------------------------------------------------------

IsEmpty = Callable[["Node"], bool]
Refusal = Callable[[Expression], str | None]
"""Names the part of an expression that Spark must not evaluate; None if there is none."""
Restrict = Callable[["Node", tuple[int, ...], "Keys"], "Node"]
PushDown = Callable[["Node", Sequence[Expression]], "Node"]
Retype = Callable[[int, Type], Type]
"""The type in which the column at an index travels, given its type."""
MANY = 1e12
"""More rows than a lookup may give, where nothing is known."""
ColumnsOf = tuple["Node", tuple[int, ...]]
"""A relation, and the indexes of some of its columns."""


class Calculus(Protocol):
    """What a delta rule asks: the change and the states of its inputs."""

    def delta(self, node: Node) -> Node | None:
        """The change of the node's rows; None if nothing can change."""

    def after(self, node: Node) -> Node: ...

    def before(self, node: Node) -> Node: ...

    def restrict(self, node: Node, indexes: tuple[int, ...], keys: Keys) -> Node:
        """node ⋉ keys on the columns at these indexes."""

    def has_changed(self, relid: int, part: str) -> bool:
        """Whether this part of a source's change is not empty."""


Expects = Expectation["Node"]


# --- nodes ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Node(metaclass=Interned):
    """A relation: a Z-set with these columns and a weight."""

    # --- what it is made of ---------------------------------------------------------------------

    @property
    @abstractmethod
    def columns(self) -> tuple[Column, ...]: ...

    @abstractmethod
    def describe(self) -> str:
        """One line about it, as explain shows it."""

    @cached_property
    def inputs(self) -> tuple[Node, ...]:
        return tuple(self._held(Node))

    @cached_property
    def parts(self) -> tuple[Node, ...]:
        """All that it reads: the keys by which it reads, if any, and its inputs."""
        keys = getattr(self, "keys", None)
        return (keys, *self.inputs) if isinstance(keys, Keys) else self.inputs

    @property
    def held_expressions(self) -> tuple[Expression, ...]:
        """Its expressions, over the columns of its inputs side by side."""
        return tuple(self._held(Expression))

    def with_inputs(self, *inputs: Node) -> Self:
        return self._with_held(Node, inputs)

    def with_expressions(self, *expressions: Expression) -> Self:
        return self._with_held(Expression, expressions)

    def walk(self) -> Iterator[Node]:
        """The node and all that it reads, each once."""
        seen: set[Node] = set()
        waiting: list[Node] = [self]
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                yield node
                waiting.extend(reversed(node.parts))

    def _held(self, kind: Any) -> Iterator[Any]:
        """What its fields hold of a kind, alone or in tuples; keys are no input."""
        for field in fields(self):
            value = getattr(self, field.name)
            values = value if isinstance(value, tuple) else (value,)
            if field.name != "keys":
                yield from (each for each in values if isinstance(each, kind))

    def _with_held(self, kind: Any, new: Iterable[Any]) -> Self:
        remaining = iter(new)
        changed: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "keys":
                continue
            if isinstance(value, kind):
                changed[field.name] = next(remaining)
            elif isinstance(value, tuple) and any(isinstance(each, kind) for each in value):
                changed[field.name] = tuple(
                    next(remaining) if isinstance(each, kind) else each for each in value
                )
        return replace(self, **changed)

    # --- its change, and reading it by key --------------------------------------------------------

    @abstractmethod
    def delta(self, change: Calculus) -> Node | None:
        """The delta rule; None if nothing can change."""

    def state(self, change: Calculus, after: bool) -> Node:
        """What a leaf of a query is before or after the change."""
        return self

    @abstractmethod
    def restrict(self, indexes: tuple[int, ...], keys: Keys, down: Restrict) -> Node | None:
        """The node ⋉ keys, by restricting what it reads; None if no key can go down."""

    @abstractmethod
    def origins_of(self, index: int) -> tuple[Origin, ...]:
        """The columns of inputs that a column is, unchanged; none if it is made here."""

    def shown_by(self, indexes: tuple[int, ...]) -> list[ColumnsOf] | None:
        """The inputs that show all these columns, and where; None if not all are shown by the same
        one. Of no columns the first input tells whether there are rows."""
        found = [self.origins_of(i) for i in indexes]
        sides = {tuple(origin.input for origin in each) for each in found} or {(0,)}
        if len(sides) > 1 or () in sides:
            return None
        (side,) = sides
        return [
            (self.inputs[number], tuple(each[n].column for each in found))
            for n, number in enumerate(side)
        ]

    def tested_by(self, indexes: tuple[int, ...]) -> tuple[tuple[int, ...], Keys] | None:
        """Of the input that shows these columns, the columns that must be among some keys for a row
        to be shown, and the keys; None if nothing is asked."""
        return None

    def rows_per_key(self, indexes: tuple[int, ...]) -> float:
        """How many of its rows are expected to have the same values in these columns."""
        below = self.shown_by(indexes)
        return MANY if below is None else sum(node.rows_per_key(part) for node, part in below)

    def rows_without_key(self, indexes: tuple[int, ...]) -> float:
        """How many of its rows are expected to have a NULL among these columns."""
        below = self.shown_by(indexes)
        return MANY if below is None else sum(node.rows_without_key(part) for node, part in below)

    @property
    def is_at_hand(self) -> bool:
        """Whether its rows are at hand before Spark runs the tree above it."""
        return not self.inputs

    @property
    def is_one_relation(self) -> bool:
        """Whether a statement names one relation for it, whatever it is made of."""
        return self.is_at_hand

    @cached_property
    def named_relations(self) -> int:
        """How many relations a statement names that computes it."""
        return 1 if self.is_one_relation else sum(part.named_relations for part in self.parts)

    @property
    def only_arranges(self) -> bool:
        """Whether its rows are those of its inputs, arranged otherwise."""
        return False

    @property
    def needs_positive(self) -> tuple[bool, ...]:
        """Of which inputs it must see rows that exist: no weight is negative, once equal rows
        meet."""
        return (False,) * len(self.inputs)

    @property
    def output_is_positive(self) -> bool:
        """Whether it gives rows that exist, though weights of both signs meet below."""
        return bool(self.inputs) and all(self.needs_positive)

    @property
    def is_signed(self) -> bool:
        """Whether weights of both signs may meet in it."""
        return not self.output_is_positive and any(node.is_signed for node in self.inputs)

    @property
    def read_again(self) -> tuple[ColumnsOf, ...]:
        """Its inputs, and the keys by which it reads them again where a change of the rows of a
        key is not the sum of what each row does."""
        return ()

    def nonlinear_in(self, input: Node) -> str | None:
        """What keeps it from treating each row of the input by itself, in words; None if nothing
        does. The recursive term of a CTE must treat its rows so."""
        return None

    # --- its rows -----------------------------------------------------------------------------

    @abstractmethod
    def gives_nothing(self, is_empty: IsEmpty) -> bool:
        """Whether it gives no rows, given which of its parts give none."""

    def needed(self, is_empty: IsEmpty) -> tuple[Node, ...]:
        """The parts that must be read, given which of them give no rows."""
        return self.parts

    def expected_rows(self, expect: Expects) -> float:
        """How many rows it gives. Conditions are taken to drop none: keys are collected below
        them."""
        return max(map(expect.rows, self.inputs), default=1.0)

    def expected_values(self, indexes: tuple[int, ...], expect: Expects) -> float:
        """How many different values these columns have together."""
        below = self.shown_by(indexes) if indexes and self.inputs else None
        if below is None:
            return expect.rows(self)
        return sum(expect.distinct(part, columns) for part, columns in below)

    # --- who evaluates what -------------------------------------------------------------------

    def legalized(self, refusal: Refusal) -> Node:
        """The same relation, where PostgreSQL computes what Spark must not."""
        for refused in filter(None, map(refusal, self.held_expressions)):
            raise UnsupportedExpression(
                f"The expression {refused} cannot be computed exactly here.",
                construct=refused.split(" on ")[0],
            )
        return self

    def push_down(
        self, conditions: Sequence[Expression], down: PushDown, refusal: Refusal
    ) -> Node | None:
        """The rows for which the conditions are true, by filtering what it reads; None if no
        condition can go down."""
        return None

    def with_computed(self, index: int, compute: Callable[[Any], Any]) -> tuple[Node, int] | None:
        """The node with one more column, which a scan computes from the column at the index, and
        the new column's index; None if no scan can. `compute` makes a field of a field."""
        return None

    def flows(self, index: int) -> tuple[Origin, ...]:
        """The columns of inputs whose values the column may hold."""
        return self.origins_of(index)

    def computes(self, index: int) -> bool:
        """Whether Spark makes values of the column here."""
        return not self.origins_of(index)

    @property
    @abstractmethod
    def reads(self) -> Iterator[Origin]:
        """The columns of inputs on whose values it computes, or which it compares."""

    @property
    def read_by_expressions(self) -> Iterator[Origin]:
        for expression in self.held_expressions:
            yield from map(self.beside, values_read(expression))

    def retyped(self, retype: Retype) -> Node:
        """The node with its columns in the types in which they travel, as its inputs are."""
        types = [column.type for node in self.inputs for column in node.columns]
        return self.with_expressions(*(travelling(e, types) for e in self.held_expressions))

    def beside(self, index: int) -> Origin:
        """The column at this index of the inputs' columns side by side."""
        for number, node in enumerate(self.inputs):
            if index < len(node.columns):
                return Origin(number, index)
            index -= len(node.columns)
        raise AssertionError("there is no such column")


@dataclass(frozen=True, eq=False)
class OfDeltaTrees(Node):
    """It stands in delta trees only: nothing asks for its change, nor what it reads."""

    def delta(self, change: Calculus) -> Node | None:
        raise AssertionError(f"{type(self).__name__} has no delta rule")

    @property
    def reads(self) -> Iterator[Origin]:
        raise AssertionError(f"{type(self).__name__} stands in no query")


@dataclass(frozen=True, eq=False)
class Keys(OfDeltaTrees):
    """The distinct values of some columns of a relation.

    They compare with IS NOT DISTINCT FROM. Where SQL says that NULLs do not match (join
    equality) `nulls` is false, and keys with a NULL are dropped. There may be more keys than the
    change needs: every rule stays exact as long as each key is there with all its rows or not at
    all.
    """

    input: Node
    indexes: tuple[int, ...]
    nulls: bool = True

    @property
    def columns(self) -> tuple[Column, ...]:
        columns = self.input.columns
        return tuple(columns[i] for i in self.indexes)

    def describe(self) -> str:
        return f"Keys {names_at(self.indexes, self.input.columns)}"

    @property
    def is_one_relation(self) -> bool:
        return True

    @property
    def output_is_positive(self) -> bool:
        """Each key is there once, whatever the weights of the rows that show it."""
        return True

    def restrict(self, indexes: tuple[int, ...], keys: Keys, down: Restrict) -> Node | None:
        return None

    def origins_of(self, index: int) -> tuple[Origin, ...]:
        return (Origin(0, self.indexes[index]),)

    def gives_nothing(self, is_empty: IsEmpty) -> bool:
        return is_empty(self.input)

    def expected_rows(self, expect: Expects) -> float:
        return expect.distinct(self.input, self.indexes) if expect.rows(self.input) else 0.0

    def expected_share(self, of: Node, indexes: tuple[int, ...], expect: Expects) -> float:
        """The share of a relation's rows whose columns at these indexes they name; may exceed 1."""
        return expect.rows(self) / expect.distinct(of, indexes)

    def pick(self, positions: tuple[int, ...]) -> Keys:
        """The same keys with only these of their columns."""
        return Keys(self.input, tuple(self.indexes[p] for p in positions), self.nulls)

    @property
    def read(self) -> tuple[int, ...]:
        """The columns of the input that tell them."""
        return self.indexes

    @property
    def equalities(self) -> Keys | None:
        """What of them Spark compares rows with; None if nothing."""
        return self

    def in_words(self, names: list[str]) -> str:
        """By what columns of these names are restricted."""
        return ", ".join(names)


# --- words ----------------------------------------------------------------------------------------


def in_words(expression: Expression, columns: Sequence[Column]) -> str:
    return to_postgres(expression, lambda i: columns[i].name)


def names_at(indexes: Sequence[int], columns: Sequence[Column]) -> str:
    return ", ".join(columns[i].name for i in indexes)
