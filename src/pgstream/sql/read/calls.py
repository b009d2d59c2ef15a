"""Calls of functions: their arguments, ORDER BY, WITHIN GROUP, FILTER and OVER."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from pgstream.errors import UnsupportedConstruct
from pgstream.sql.grammar import Tree, enum_name
from pgstream.sql.read.names import identifier, strings
from pgstream.sql.read.worded import worded, worded_aggregate

Read = Callable[[Tree], exp.Expr]

# Functions that the algebra knows by nodes of their own, with one argument.
KNOWN: dict[str, type[exp.Func]] = {
    "abs": exp.Abs, "length": exp.Length, "count": exp.Count, "sum": exp.Sum, "avg": exp.Avg,
    "min": exp.Min, "max": exp.Max,
}  # fmt: skip
# Functions of a syntax of their own that is an operator's.
OPERATIONS = frozenset(("timezone", "overlaps", "is_normalized", "like_escape"))


def function(node: Tree, read: Read) -> exp.Expr:
    tree = node.func_call
    if enum_name(tree, "funcformat") == "COERCE_SQL_SYNTAX":
        name = strings(tree.funcname)[-1]
        made: exp.Expr = worded(name, node, read)
        return exp.Paren(this=made) if name in OPERATIONS else made
    made = call(tree, read)
    if tree.agg_within_group:
        made = exp.WithinGroup(this=made, expression=order(tree.agg_order, read))
    if tree.HasField("agg_filter"):
        made = exp.Filter(this=made, expression=exp.Where(this=read(tree.agg_filter)))
    return window(made, tree.over, read) if tree.HasField("over") else made


def call(tree: Tree, read: Read) -> exp.Expr:
    names, given = strings(tree.funcname), arguments(tree, read)
    known = KNOWN.get(names[0]) if len(names) == 1 else None
    if known is not None and len(given) == 1 and not tree.func_variadic:
        return known(this=given[0])
    if names == ["split_part"] and len(given) == 3 and not tree.agg_order:
        return exp.SplitPart(this=given[0], delimiter=given[1], part_index=given[2])
    *schema, name = map(identifier, names)
    made = exp.Anonymous(this=name if name.args["quoted"] else name.name, expressions=given)
    return exp.Dot.build([*schema, made]) if schema else made


def arguments(tree: Tree, read: Read) -> list[exp.Expr]:
    """DISTINCT holds all of them, ORDER BY belongs to the last."""
    given: list[exp.Expr] = [exp.Star()] if tree.agg_star else [read(arg) for arg in tree.args]
    if tree.func_variadic:
        given[-1] = exp.Variadic(this=given[-1])
    if tree.agg_distinct:
        given = [exp.Distinct(expressions=given)]
    if tree.agg_order and not tree.agg_within_group:
        given[-1] = exp.Order(this=given[-1], expressions=order(tree.agg_order, read).expressions)
    return given


def json_aggregate(node: Tree, kind: str, read: Read) -> exp.Expr:
    name = {"json_array_agg": "JSON_ARRAYAGG", "json_object_agg": "JSON_OBJECTAGG"}[kind]
    made: exp.Expr = worded_aggregate(name, node, kind, read)
    constructor = getattr(node, kind).constructor
    if constructor.agg_order:
        made.append("expressions", order(constructor.agg_order, read))
    if constructor.HasField("agg_filter"):
        made = exp.Filter(this=made, expression=exp.Where(this=read(constructor.agg_filter)))
    return window(made, constructor.over, read) if constructor.HasField("over") else made


# --- ORDER BY -------------------------------------------------------------------------------------


def order(items: Tree, read: Read) -> exp.Order:
    return exp.Order(expressions=[ordered(item.sort_by, read) for item in items])


def ordered(tree: Tree, read: Read) -> exp.Ordered:
    direction, nulls = enum_name(tree, "sortby_dir"), enum_name(tree, "sortby_nulls")
    if direction == "SORTBY_USING":
        raise UnsupportedConstruct(
            "ORDER BY ... USING an operator is not supported in a stream table's query.",
            construct="USING",
            hint="Order by ASC or DESC.",
        )
    descending = direction == "SORTBY_DESC"
    first = descending if nulls == "SORTBY_NULLS_DEFAULT" else nulls == "SORTBY_NULLS_FIRST"
    made = exp.Ordered(this=read(tree.node), nulls_first=first)
    if descending:
        made.set("desc", True)
    return made


# --- OVER -----------------------------------------------------------------------------------------

DEFAULT, BETWEEN = 0x1, 0x10
KINDS = ((0x2, "RANGE"), (0x4, "ROWS"), (0x8, "GROUPS"))
# What a frame starts with; for its end the bits are shifted by one.
BOUNDS = (
    (0x20, "UNBOUNDED", "PRECEDING"), (0x80, "UNBOUNDED", "FOLLOWING"), (0x200, "CURRENT ROW", ""),
    (0x800, None, "PRECEDING"), (0x2000, None, "FOLLOWING"),
)  # fmt: skip
EXCLUDED = ((0x8000, "CURRENT ROW"), (0x10000, "GROUP"), (0x20000, "TIES"))


def window(this: exp.Expr, tree: Tree, read: Read) -> exp.Window:
    made = exp.Window(this=this, over="OVER")
    name = tree.name or tree.refname
    if name:
        made.set("alias", identifier(name))
    return defined(made, tree, read)


def named_window(tree: Tree, read: Read) -> exp.Window:
    """w AS (…) of the WINDOW clause."""
    made = exp.Window(this=identifier(tree.name))
    if tree.refname:
        made.set("alias", identifier(tree.refname))
    return defined(made, tree, read)


def defined(made: exp.Window, tree: Tree, read: Read) -> exp.Window:
    if tree.partition_clause:
        made.set("partition_by", [read(part) for part in tree.partition_clause])
    if tree.order_clause:
        made.set("order", order(tree.order_clause, read))
    if tree.frame_options & DEFAULT:
        made.set("spec", frame(tree, read))
    return made


def frame(tree: Tree, read: Read) -> exp.WindowSpec:
    bits = tree.frame_options
    made = exp.WindowSpec(kind=next(name for bit, name in KINDS if bits & bit))
    for side, shift in (("start", 0), ("end", 1)):
        for bit, value, direction in BOUNDS:
            if bits & (bit << shift):
                offset = getattr(tree, f"{side}_offset")
                made.set(side, read(offset) if value is None else value)
                made.set(f"{side}_side", direction or None)
    for bit, word in EXCLUDED:
        if bits & bit:
            made.set("exclude", exp.Var(this=word))
    return made
