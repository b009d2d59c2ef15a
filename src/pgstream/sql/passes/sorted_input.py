"""sorted_input: what collects rows in the order in which they come says so.

Before: SELECT g, array_agg(x) AS a FROM (SELECT t.g, t.x FROM t ORDER BY t.y DESC) s GROUP BY g
After:  SELECT g, array_agg(x ORDER BY s.o DESC) AS a
          FROM (SELECT t.g, t.x, t.y AS o FROM t ORDER BY t.y DESC) s GROUP BY g

Rows of a sorted subquery, of VALUES and of a function in FROM come in an order, and PostgreSQL
keeps it through conditions and SELECT lists, up to an aggregate, to a window function without
ORDER BY, or to LIMIT. Joins, DISTINCT and groups on the way lose it. Keys of the order that are
no output columns become some.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from pgstream.sql.cut import is_cut, is_grouped, output_index
from pgstream.sql.nodes import OwnAggregate, Worded
from pgstream.sql.ordered_calls import add_order, has_star, is_distinct, order_of
from pgstream.sql.parse import Query
from pgstream.sql.passes.build import Names, everywhere
from pgstream.sql.scope import aliases
from pgstream.sql.walk import is_function, is_join, parts, unwrapped

COLLECTS = frozenset(
    """any_value array_agg json_agg json_agg_strict json_arrayagg json_object_agg
    json_object_agg_strict json_object_agg_unique json_object_agg_unique_strict jsonb_agg
    jsonb_agg_strict jsonb_object_agg jsonb_object_agg_strict string_agg xmlagg""".split()
)
NUMBERS = frozenset(("row_number", "ntile", "lag", "lead"))
PICKS = frozenset(("first_value", "last_value", "nth_value"))
UNBOUNDED, HERE = "UNBOUNDED", "CURRENT ROW"

Keys = list[exp.Ordered]


def sorted_input(query: Query) -> Query:
    return everywhere(query, _sort)


def inherits_order(select: exp.Expr | None) -> bool:
    """Whether the rows of the SELECT come in an order, though it does not say so."""
    if not isinstance(select, exp.Select) or not _passes_rows(select):
        return False
    return bool(_Orders(Names(select), whole=True).of_input(select.copy()))


def _sort(select: exp.Select, names: Names) -> exp.Select:
    calls = list(_collecting(select))
    windows = [] if is_grouped(select) else list(_unordered_windows(select))
    is_open = is_cut(select) and not select.args.get("order") and inherits_order(select)
    keys = _Orders(names).of_input(select) if calls or windows or is_open else []
    if not keys:
        return select
    for call in calls:
        add_order(call, keys)
    for window in windows:
        _order_window(window, keys)
    if is_open:
        select.set("order", exp.Order(expressions=[key.copy() for key in keys]))
    return select


# --- what shows the order -------------------------------------------------------------------------


def _clauses(select: exp.Select) -> list[exp.Expr]:
    clauses = [*select.expressions, select.args.get("having"), select.args.get("order")]
    return [clause for clause in clauses if clause is not None]


def _collecting(select: exp.Select) -> Iterator[exp.Expr]:
    own = aliases(select)
    for clause in _clauses(select):
        for part in parts(clause):
            if _collects(part) and _reads_one_of(part, own):
                yield part


def _collects(call: exp.Expr) -> bool:
    """Whether it is a call that collects its rows as they come."""
    if not isinstance(call, exp.Anonymous) or has_star(call):
        return False
    if not isinstance(call, OwnAggregate) and _name(call) not in COLLECTS:
        return False
    return order_of(call) is None and not is_distinct(call)


def _reads_one_of(call: exp.Expr, own: frozenset[str]) -> bool:
    """A call that reads only columns of a query outside is that query's."""
    read = {column.table for column in call.find_all(exp.Column)}
    return not read or "" in read or bool(read & own)


def _unordered_windows(select: exp.Select) -> Iterator[exp.Window]:
    for clause in _clauses(select):
        for part in parts(clause):
            if isinstance(part, exp.Window) and not part.args.get("order") and _shows_order(part):
                yield part


def _shows_order(window: exp.Window) -> bool:
    name, frame = _name(window.this), window.args.get("spec")
    if name in NUMBERS:
        return True
    collects = name in PICKS | COLLECTS or isinstance(_call(window.this), exp.Dot)  # a user's
    if frame is None or frame.args["kind"].upper() == "ROWS":
        return collects or frame is not None
    bounds = {str(frame.args.get(side) or HERE).upper() for side in ("start", "end")}
    whole = bounds <= {UNBOUNDED, HERE} and not frame.args.get("exclude")
    return whole and collects


def _order_window(window: exp.Window, keys: Keys) -> None:
    """Without an order all rows are peers: a frame that is not counted in rows has them all."""
    window.set("order", exp.Order(expressions=[key.copy() for key in keys]))
    frame = window.args.get("spec")
    if _name(window.this) in NUMBERS or (frame and frame.args["kind"].upper() == "ROWS"):
        return
    window.set(
        "spec",
        exp.WindowSpec(
            kind="ROWS",
            start=UNBOUNDED,
            start_side="PRECEDING",
            end=UNBOUNDED,
            end_side="FOLLOWING",
        ),
    )


def _name(call: exp.Expr) -> str:
    call = _call(call)
    return call.name.lower() if isinstance(call, exp.Anonymous) else ""


def _call(call: exp.Expr) -> exp.Expr:
    while isinstance(call, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
        call = call.this
    return call


# --- the order of what is read ------------------------------------------------------------------


def _passes_rows(select: exp.Select) -> bool:
    """Whether the rows stay in the order in which FROM has them."""
    if select.args.get("distinct") or is_grouped(select) or select.find(exp.Window):
        return False
    where = select.args.get("where")
    return where is None or where.find(exp.Query) is None


def _from_items(select: exp.Select) -> Iterator[exp.Expr]:
    """What FROM lists and joins, one after the other."""
    clause = select.args.get("from_")
    if clause is not None:
        yield from _joined(clause.this)
    for join in select.args.get("joins") or ():
        yield from _joined(join.this)


def _joined(item: exp.Expr) -> Iterator[exp.Expr]:
    """The item, or those of a join in parentheses."""
    if is_join(item) and not item.alias:
        yield from _joined(item.this)
    else:
        yield item
    for join in item.args.get("joins") or ():
        yield from _joined(join.this)


def _is_lateral(item: exp.Expr) -> bool:
    return isinstance(item, exp.Lateral)


def _column(name: exp.Identifier, item: exp.Expr) -> exp.Column:
    alias = item.args.get("alias")
    table = alias.this if alias else item.this
    return exp.Column(this=name.copy(), table=table.copy())


def _ascending(column: exp.Column) -> exp.Ordered:
    return exp.Ordered(this=column, nulls_first=False)


def _given(node: exp.Expr) -> list[exp.Identifier]:
    """The names that an alias gives to the first columns."""
    alias = node.args.get("alias")
    return list(alias.args.get("columns") or ()) if alias else []


def _cte(table: exp.Table) -> exp.CTE | None:
    """The common table expression that the name means; none that is recursive."""
    node: exp.Expr | None = table
    while node is not None:
        clause = node.args.get("with_")
        for cte in clause.expressions if clause else ():
            if cte.alias == table.name:
                return None if clause is None or clause.args.get("recursive") else cte
        node = node.parent
    return None


def _compares_rows(select: exp.Select) -> bool:
    """SELECT DISTINCT, to which a column more would matter."""
    distinct = select.args.get("distinct")
    return distinct is not None and distinct.args.get("on") is None


def _output_name(items: list[exp.Expr], index: int) -> exp.Identifier:
    item = items[index] if index < len(items) else None
    name = item.args["alias"] if isinstance(item, exp.Alias) else item and item.this
    # PostgreSQL prints a name for each; a user's text may have a star.
    return name if isinstance(name, exp.Identifier) else exp.to_identifier(f"column{index + 1}")


@dataclass(frozen=True)
class _Orders:
    """Finds the order in which rows come, by columns; hidden ones are added where needed.

    Of a join only those rows have an order that a function or LATERAL makes of one row. `whole`:
    that is not enough.
    """

    names: Names
    whole: bool = False

    def of_input(self, select: exp.Select) -> Keys:
        """The order of the rows in FROM."""
        items = list(_from_items(select))
        relations = [item for item in items if not (is_function(item) or _is_lateral(item))]
        if len(relations) > 1 or relations != items[: len(relations)]:
            items = [] if self.whole else [item for item in items if item not in relations]
        found = [self.of_item(item) for item in items]
        return [] if self.whole and not all(found) else [key for keys in found for key in keys]

    def of_item(self, item: exp.Expr) -> Keys:
        if is_function(item):
            number = self.ordinality(item)
            return [_ascending(_column(number, item))] if number is not None else []
        if isinstance(item, exp.Values):
            return self.of_values(item)
        query, given = item.this, item
        if isinstance(item, exp.Table):
            cte = None if item.args.get("db") else _cte(item)
            if cte is None:
                return []
            query = cte.this
            given = item if _given(item) else cte
        return [
            exp.Ordered(**{**key.args, "this": _column(name, item)})
            for name, key in self.of_output(query, _given(given))
        ]

    def ordinality(self, item: exp.Expr) -> exp.Identifier | None:
        """The column that numbers a function's rows; it is added if there is none."""
        alias, given = item.args.get("alias"), _given(item)
        if isinstance(item.this, Worded) or any(isinstance(c, exp.ColumnDef) for c in given):
            return None  # their syntax has no WITH ORDINALITY
        if alias is None or not given:  # not so where PostgreSQL prints it
            return self.hidden()
        if not item.args.get("ordinality"):
            item.set("ordinality", True)
            alias.append("columns", self.hidden())
        return alias.args["columns"][-1]  # type: ignore[no-any-return]

    def of_values(self, values: exp.Values) -> Keys:
        """The rows get their numbers."""
        alias = values.args.get("alias")
        if alias is None:
            return []
        name = self.hidden()
        if not alias.args.get("columns"):
            width = len(values.expressions[0].expressions)
            alias.set("columns", [exp.to_identifier(f"column{i + 1}") for i in range(width)])
        alias.append("columns", name)
        for number, row in enumerate(values.expressions):
            row.append("expressions", exp.Literal.number(number))
        return [_ascending(_column(name, values))]

    def of_output(
        self, query: exp.Expr, given: list[exp.Identifier]
    ) -> list[tuple[exp.Identifier, exp.Ordered]]:
        """The order in which a query gives its rows, by its output columns."""
        query = unwrapped(query)
        first = query
        while isinstance(first, exp.SetOperation | exp.Subquery):
            first = first.this
        if not isinstance(first, exp.Select):
            return []
        found: list[tuple[exp.Identifier, exp.Ordered]] = []
        for key in self.of_query(query):
            index = output_index(key.this, first.expressions)
            if index is None:
                if query is not first or _compares_rows(first):
                    return []
                index = len(first.expressions)
                first.append("expressions", exp.Alias(this=key.this.copy(), alias=self.hidden()))
            own = _output_name(first.expressions, index)
            found.append((given[index] if index < len(given) else own, key))
        return found

    def of_query(self, query: exp.Expr) -> Keys:
        """What the query orders by itself, or what it reads in an order."""
        order = query.args.get("order")
        if order is not None:
            return list(order.expressions)
        if isinstance(query, exp.Select) and _passes_rows(query):
            return self.of_input(query)
        return []

    def hidden(self) -> exp.Identifier:
        return exp.to_identifier(self.names.new("o"))
