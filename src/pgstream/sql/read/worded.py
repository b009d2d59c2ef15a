"""Constructs that connect their values by words: PostgreSQL's deparser writes the words.

Each value that reads columns leaves a hole, and becomes an expression of the node.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from pgstream.sql.grammar import (
    Tree,
    column_ref,
    each,
    enum_name,
    expression_text,
    kind_of,
    parts,
    relation_text,
    sort_by,
)
from pgstream.sql.nodes import HOLE, ORDER, Worded

Read = Callable[[Tree], exp.Expr]
MARK, ORDER_MARK = "__pgs_hole_", "__pgs_order"
HOLES = re.compile(rf"{MARK}(\d+)_")
# Parts of a construct that are not values, but hold some.
SYNTAX = frozenset(
    """a_indices json_argument json_key_value json_table_column json_value_expr list
    range_table_func_col res_target sort_by string a_star json_agg_constructor json_behavior
    json_output json_table_path_spec""".split()
)
READS = frozenset(("ColumnRef", "SubLink", "ParamRef"))


def worded(name: str, node: Tree, read: Read) -> Worded:
    """An expression of the name, which is what explain and errors call it."""
    return _made(name, node, read, expression_text)


def worded_relation(name: str, node: Tree, read: Read) -> Worded:
    """JSON_TABLE(…) or XMLTABLE(…), without its alias."""
    return _made(name, node, read, relation_text)


def worded_aggregate(name: str, node: Tree, kind: str, read: Read) -> Worded:
    """As `worded`, with a place for ORDER BY."""
    copy = type(node)()
    copy.CopyFrom(node)
    constructor = getattr(copy, kind).constructor
    for clause in ("agg_order", "agg_filter", "over"):
        constructor.ClearField(clause)
    if kind == "json_array_agg":
        constructor.agg_order.add().CopyFrom(sort_by(ORDER_MARK))
    made = worded(name, copy, read)
    made.set("words", re.sub(rf"\s*ORDER BY {ORDER_MARK}", ORDER, made.args["words"]))
    return made


def _made(name: str, node: Tree, read: Read, text_of: Callable[[Tree], str]) -> Worded:
    copy = type(node)()
    copy.CopyFrom(node)
    values: list[exp.Expr] = []

    def visit(part: Tree) -> bool:
        kind = kind_of(part)
        if kind is None or kind in SYNTAX or kind == _needed(node) or not _reads(part):
            return False
        values.append(read(part))
        part.CopyFrom(column_ref(f"{MARK}{len(values) - 1}_"))
        return True

    each(getattr(copy, str(kind_of(copy))), visit)
    text = text_of(copy)
    order = [int(number) for number in HOLES.findall(text)]
    assert sorted(order) == list(range(len(values))), "a text among the words looks like a hole"
    expressions = [values[number] for number in order]
    return Worded(this=name, words=HOLES.sub(HOLE, text), expressions=expressions)


def _needed(node: Tree) -> str | None:
    """The type of a part without which the deparser does not work: SIMILAR TO holds a call."""
    is_similar = kind_of(node) == "a_expr" and enum_name(node.a_expr, "kind") == "AEXPR_SIMILAR"
    return "func_call" if is_similar else None


def _reads(node: Tree) -> bool:
    """Whether it reads a column, other than the mark of an order."""
    for part in parts(node):
        kind = part.DESCRIPTOR.name
        if kind in READS and not (kind == "ColumnRef" and _is_mark(part)):
            return True
    return False


def _is_mark(column: Tree) -> bool:
    return len(column.fields) == 1 and column.fields[0].string.sval == ORDER_MARK
