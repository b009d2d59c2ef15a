"""Lowers a SELECT with GROUP BY or aggregates."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from pgstream.algebra.expressions import Call, Expression, Literal, Ref, plain_column
from pgstream.algebra.lower.aggregate_calls import (
    NUMBER,
    Counted,
    counted_call,
    counted_once,
    function_of,
    in_order,
)
from pgstream.algebra.lower.convert import Converter
from pgstream.algebra.lower.hoist import hoisted, key, value
from pgstream.algebra.lower.of_no_rows import counts_nothing, of_no_rows
from pgstream.algebra.lower.scope import Scope
from pgstream.algebra.operators.aggregate import MOMENTS, Aggregate, AggregateCall
from pgstream.algebra.operators.by_postgres import ROWS, ByPostgres, select
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.operators.one_row import OneRow
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.project import Project, pick
from pgstream.algebra.placement.canonical import (
    as_key,
    own_spelling,
    require_key,
    require_own_spelling,
    shown_spelling,
)
from pgstream.algebra.placement.spark_list import aggregate_refusal
from pgstream.algebra.types import BIGINT, BOOLEAN, Equality, Type
from pgstream.errors import UnsupportedExpression
from pgstream.sql.deparsed import write
from pgstream.sql.walk import bare, is_aggregate, parts

COUNTS = ("count", "regr_count")
BLIND_TO_SPELLING = ("count", "max", "min", "sum")
QUOTIENTS = MOMENTS | {"avg"}
ZERO = Literal("0", BIGINT)
THERE = Literal("t", BOOLEAN)


def grouped_select(tree: Node, node: exp.Select, scope: Scope) -> Node:
    """The groups of the tree, with what SELECT and HAVING say of them."""
    return _Grouped(tree, node, scope).lower()


class _Grouped:
    """SELECT with GROUP BY or aggregates:

    Project(keys, arguments) → Aggregate → Filter(HAVING) → Project(SELECT list)

    If PostgreSQL must compute one of the aggregates, it computes them all. In a correlated
    subquery the domain's columns are keys too; without GROUP BY, each row of the domain has a
    group, though it may be empty.
    """

    def __init__(self, tree: Node, node: exp.Select, scope: Scope) -> None:
        self.tree, self.node, self.scope = tree, node, scope
        group = node.args.get("group")
        self.keys: list[exp.Expr] = [bare(part) for part in group.expressions] if group else []
        self.domain: list[Expression] = list(scope.domain_columns)
        self.calls: list[exp.Expr] = []
        self.types: list[Type] = []

    def lower(self) -> Node:
        node = self.node
        having = node.args.get("having")
        items = [i.this if isinstance(i, exp.Alias) else i for i in node.expressions]
        for part in [*items, *([having.this] if having else [])]:
            self.collect(part)
        tree = self.grouped()
        self.types = [column.type for column in tree.columns]
        above = Converter(self.scope.catalog, self.resolve_above)
        if having:
            tree = Filter(tree, above.convert(having.this))
        expressions = [above.convert(item) for item in items]
        names = [item.alias_or_name for item in node.expressions]
        for i in range(len(self.domain)):
            expressions.append(self.above_ref(i))
            names.append(tree.columns[i].name)
        return Project(tree, tuple(expressions), tuple(names))

    def grouped(self) -> Node:
        tree = self.aggregate()
        if not self.domain or self.keys or self.node.args.get("group"):
            return tree
        domain = self.scope.domain
        assert domain is not None
        width, names = len(self.domain), tuple(column.name for column in tree.columns)
        marked = with_mark(tree) if any(map(counts_nothing, self.calls)) else tree
        pairs = tuple((i, i) for i in range(width))
        padded = OuterJoin(domain.tree, marked, pairs, nulls_match=True)
        columns = padded.columns
        values: list[Expression] = [Ref(i, columns[i].type) for i in range(width)]
        there = Call("is true", (Ref(len(columns) - 1, BOOLEAN),), BOOLEAN)
        for i, call in enumerate(self.calls):
            value = Ref(2 * width + i, columns[2 * width + i].type)
            values.append(self.padded(call, value, there))
        return Project(padded, tuple(values), names)

    def padded(self, call: exp.Expr, value: Ref, there: Expression) -> Expression:
        """The value of a group, which may have no rows."""
        if function_of(call) in COUNTS:
            return Call("coalesce", (value, ZERO), BIGINT)
        if not counts_nothing(call):
            return value
        none = of_no_rows(call, lambda c: self.scope.convert(c).type, self.scope.catalog)
        return Call("case", (there, value, replace(none, type=value.type)), value.type)

    def collect(self, node: exp.Expr) -> None:
        """Finds aggregate calls, and columns that depend on a grouped primary key."""
        if any(node == key for key in self.keys):
            return
        if is_aggregate(node):
            if node not in self.calls:
                self.calls.append(node)
            return
        if isinstance(node, exp.Column):
            if not self.in_domain(node):
                self.require_dependent(node)
                self.keys.append(node)
            return
        for child in node.iter_expressions():
            self.collect(child)

    def in_domain(self, node: exp.Expr) -> bool:
        domain = self.scope.domain
        return domain is not None and (node.text("table"), node.name) in domain.names

    def require_dependent(self, column: exp.Column) -> None:
        """A column outside GROUP BY must depend on the grouped primary key of its table."""
        grouped = {index for key in self.keys if (index := self.index_of(key)) is not None}
        index = self.index_of(column)
        table = None if index is None else self.scope.owner(index)
        if (
            table is not None
            and table.primary_key
            and all(table.offset + table.names.index(name) in grouped for name in table.primary_key)
        ):
            return
        raise UnsupportedExpression(
            f"The column {column.name} is neither grouped nor determined by the grouping.",
            construct=column.name,
            hint="Put it into GROUP BY.",
        )

    def index_of(self, node: exp.Expr) -> int | None:
        return plain_column(self.scope.convert(node)) if isinstance(node, exp.Column) else None

    # --- the aggregate ----------------------------------------------------------------------

    def aggregate(self) -> Node:
        expressions = [*self.domain, *(self.key(key) for key in self.keys)]
        width = len(expressions)
        if not expressions and not self.calls:
            return OneRow()  # GROUP BY () is one group, whatever the table holds
        counted = [counted_call(call) for call in self.calls]
        if all(call is not None and self.on_spark(call) for call in counted):
            calls = [self.call(call, expressions) for call in counted if call is not None]
            return Aggregate(self.narrowed(expressions), tuple(range(width)), tuple(calls))
        return self.by_values(expressions) or self.by_postgres(expressions)

    def by_values(self, keys: list[Expression]) -> Node | None:
        """Calls with DISTINCT over the different values, stored by themselves, so that no group is
        read again:

            count(DISTINCT x) by g = count(x) by g over DISTINCT (g, x)

        Those of the same values are one aggregate; another has the calls without DISTINCT. Each
        has all the groups. None if PostgreSQL must compute one of the calls.
        """
        together: dict[tuple[exp.Expr | None, exp.Expr | None], list[int]] = {}
        counted = list(map(counted_once, self.calls))
        for number, call in enumerate(counted):
            if call is None or not self.on_spark(call):
                return None
            if call.is_distinct and (self.scale(call) is not None or not self.is_key(call)):
                return None
            of = (call.argument, call.condition) if call.is_distinct else (None, None)
            together.setdefault(of, []).append(number)
        tree: Node | None = None
        found: dict[int, int] = {}
        width = len(keys)
        for numbers in together.values():
            calls = [call for number in numbers if (call := counted[number]) is not None]
            part = self.of_values(keys, calls)
            first = width + (len(tree.columns) if tree else 0)
            found |= {number: first + i for i, number in enumerate(numbers)}
            pairs = tuple((i, i) for i in range(width))
            tree = Join(tree, part, pairs, nulls_match=True) if tree else part
        assert tree is not None
        shown = (*range(width), *(found[number] for number in range(len(self.calls))))
        return pick(tree, shown)

    def of_values(self, keys: list[Expression], calls: list[Counted]) -> Aggregate:
        """The calls, which are all without DISTINCT or over the different values of the first."""
        width, expressions = len(keys), list(keys)
        every = tuple(range(width))
        first = calls[0]
        if not first.is_distinct:
            made = [self.call(call, expressions) for call in calls]
            return Aggregate(self.narrowed(expressions), every, tuple(made))
        assert first.argument is not None
        value = self.key(first.argument)
        if first.condition is not None:
            value = self.filtered(value, first.condition)
        types = [self.result(call.function, value.type) for call in calls]
        rows = self.narrowed([*keys, value])
        different = Aggregate(rows, (*every, width), ())
        made = [AggregateCall(c.function, width, t) for c, t in zip(calls, types, strict=True)]
        return Aggregate(different, every, tuple(made))

    def is_key(self, call: Counted) -> bool:
        """Whether Spark can tell the values of the argument apart."""
        assert call.argument is not None
        return self.value(call.argument).type.compares <= Equality.SPELLINGS

    def narrowed(self, expressions: list[Expression]) -> Project:
        names = tuple(f"k{i}" for i in range(len(expressions)))
        return Project(self.tree, tuple(expressions), names)

    def key(self, node: exp.Expr) -> Expression:
        value = self.scope.convert(node)
        require_key(value.type, f"A column of type {value.type} cannot be a grouping column.")
        node = as_key(node, value)
        return hoisted(key(self.scope.convert(node), node, self.scope), node, self.scope)

    def value(self, node: exp.Expr) -> Expression:
        return value(node, self.scope)

    def on_spark(self, call: Counted) -> bool:
        if call.argument is None:
            return True
        type_ = self.value(call.argument).type
        if aggregate_refusal(call.function, type_) is not None:
            return False
        if call.function == "avg" and self.result(call.function, type_).as_text:
            return False  # Spark would divide
        open_digits = type_.is_numeric and type_.digits is None and call.function in MOMENTS
        return not open_digits or self.scale(call) is not None

    def call(self, call: Counted, expressions: list[Expression]) -> AggregateCall:
        value = self.value(call.argument) if call.argument is not None else None
        if call.condition is not None:
            value = self.filtered(value, call.condition)
        if value is None:
            return AggregateCall(call.function, None, BIGINT)
        type_ = self.result(call.function, value.type)
        index, scale = index_in(value, expressions), None
        if (decimals := self.scale(call)) is not None:
            if call.condition is not None:
                decimals = self.filtered(decimals, call.condition)
            scale = index_in(decimals, expressions)
        return AggregateCall(call.function, index, type_, scale)

    def result(self, function: str, argument: Type) -> Type:
        return self.scope.catalog.type_of(f"{function}(s.c0)", {0: argument})

    def scale(self, call: Counted) -> Expression | None:
        """The argument's number of decimals, where the digits of the result depend on it, its
        type does not tell, and a scan can."""
        if call.argument is None or call.function not in QUOTIENTS:
            return None
        type_ = self.value(call.argument).type
        if not type_.is_numeric or type_.digits is not None:
            return None
        node = exp.Anonymous(this="scale", expressions=[call.argument.copy()])
        value = self.value(node)
        return value if isinstance(value, Ref) else None

    def filtered(self, value: Expression | None, condition: exp.Expr) -> Expression:
        """agg(x) FILTER (WHERE p) = agg(CASE WHEN p THEN x END)."""
        test = self.value(condition)
        value = value or Literal("t", BOOLEAN)
        return Call("case", (test, value, Literal(None, value.type)), value.type)

    def by_postgres(self, expressions: list[Expression]) -> ByPostgres:
        """PostgreSQL computes the calls over the rows of the touched groups, which are numbered
        in one order, so that a group gives the same value each time."""
        width = len(expressions)
        for call in self.calls:
            self.require_spellings(call)
        texts = [self.written(call, expressions) for call in self.calls]
        tree = self.narrowed(expressions)
        types = {i: column.type for i, column in enumerate(tree.columns)}
        keys = [own_spelling(f"c{i}", types[i]) for i in range(width)]
        order = ", ".join([*keys, *(f"c{i}::text" for i in range(width, len(expressions)))]) or "1"
        numbered = f"SELECT *, row_number() OVER (ORDER BY {order}) AS {NUMBER} FROM {ROWS}"
        items = [*(shown_spelling(f"r.c{i}", types[i]) for i in range(width)), *texts]
        query = select(items, f"({numbered}) r", "1::bigint")
        if width:
            query += " GROUP BY " + ", ".join(f"r.{key}" for key in keys)
        made = self.scope.catalog.row_of(query, types)
        names = [function_of(call) for call in self.calls]
        values = tuple(
            Column(name, type_) for name, (_, type_) in zip(names, made[width:-1], strict=True)
        )
        shape = tree.columns[:width] + values
        origins = (*range(width), *(None for _ in values))
        return ByPostgres(tree, query, shape, origins, tuple(range(width)), ", ".join(names))

    def require_spellings(self, call: exp.Expr) -> None:
        """Most aggregates show how a value is written; equal values may be written differently."""
        if function_of(call) not in BLIND_TO_SPELLING:
            for column in call.find_all(exp.Column):
                require_own_spelling(self.scope.convert(column).type, function_of(call))

    def written(self, call: exp.Expr, expressions: list[Expression]) -> str:
        """The call over the columns of the rows handed over."""

        def column(part: exp.Expr) -> exp.Expr:
            return self.handed_over(part, expressions) if isinstance(part, exp.Column) else part

        return write(in_order(call.copy().transform(column)))

    def handed_over(self, node: exp.Expr, expressions: list[Expression]) -> exp.Expr:
        """The column of the rows handed over. A numeric of any scale goes as text where a scan
        can write it, so that each value keeps its own digits."""
        value = self.scope.convert(node)
        if value.type.is_numeric and value.type.digits is None:
            text = self.value(exp.cast(node.copy(), "text"))
            if isinstance(text, Ref):
                column = exp.column(f"c{index_in(text, expressions)}", table="r")
                return exp.cast(column, "numeric")
        return exp.column(f"c{index_in(value, expressions)}", table="r")

    # --- above ------------------------------------------------------------------------------

    def resolve_above(self, node: exp.Expr) -> Expression | None:
        domain = self.scope.domain
        if domain is not None and isinstance(node, exp.Column) and self.in_domain(node):
            return self.above_ref(domain.names.index((node.table, node.name)))
        for i, grouped in enumerate(self.keys):
            if node == grouped:
                return self.above_ref(len(self.domain) + i)
        if is_aggregate(node):
            first = len(self.domain) + len(self.keys)
            return self.above_ref(first + self.calls.index(node))
        return None

    def above_ref(self, index: int) -> Ref:
        return Ref(index, self.types[index])


def with_mark(tree: Node) -> Project:
    """With a last column that is true, by which a row is told from one of padding."""
    found = tuple(Ref(i, column.type) for i, column in enumerate(tree.columns))
    return Project(tree, (*found, THERE), (*(column.name for column in tree.columns), "there"))


def index_in(value: Expression, expressions: list[Expression]) -> int:
    """Where the value stands among the expressions; it is added if it is not there."""
    if value not in expressions:
        expressions.append(value)
    return expressions.index(value)


def has_aggregates(node: exp.Expr) -> bool:
    return any(map(is_aggregate, parts(node)))
