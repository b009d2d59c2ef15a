"""FROM: tables, joins, subqueries, VALUES and functions.

The joins of the first item belong to the SELECT; those of another item are in parentheses, in which
they belong to their first relation.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from pgstream.errors import UnsupportedConstruct
from pgstream.sql.grammar import Tree, enum_name, kind_of, type_text, unwrapped
from pgstream.sql.nodes import Described, Unread
from pgstream.sql.read.expressions import all_of, read
from pgstream.sql.read.names import identifier, placed, strings, table_alias
from pgstream.sql.read.types import data_type
from pgstream.sql.read.worded import worded_relation

SIDES = {"JOIN_INNER": None, "JOIN_LEFT": "LEFT", "JOIN_RIGHT": "RIGHT", "JOIN_FULL": "FULL"}


def from_clause(select: exp.Select, items: Tree) -> None:
    if not items:
        return
    first, *rest = items
    base, joins = chain(first)
    select.set("from_", exp.From(this=base))
    joins += [exp.Join(this=relation(item)) for item in rest]
    if joins:
        select.set("joins", joins)


def chain(node: Tree) -> tuple[exp.Expr, list[exp.Join]]:
    """The first relation of joins, and what is joined to it, one after the other."""
    if kind_of(node) != "join_expr" or node.join_expr.HasField("alias"):
        return relation(node), []
    base, joins = chain(node.join_expr.larg)
    return base, [*joins, join(node.join_expr)]


def relation(node: Tree) -> exp.Expr:
    kind = kind_of(node) or "nothing"
    reader = RELATIONS.get(kind)
    if reader is None:
        raise UnsupportedConstruct(
            f"{kind.replace('_', ' ')} in FROM is not supported in a stream table's query.",
            construct=kind.replace("_", " "),
        )
    return placed(reader(unwrapped(node)), getattr(unwrapped(node), "location", 0))


def joined(tree: Tree) -> exp.Expr:
    """Joins in parentheses."""
    base, joins = chain(tree.larg)
    base.set("joins", [*joins, join(tree)])
    made = exp.Subquery(this=base)
    if tree.HasField("alias"):
        made.set("alias", table_alias(tree.alias))
    return made


def join(tree: Tree) -> exp.Join:
    made = exp.Join(this=relation(tree.rarg))
    side = SIDES[enum_name(tree, "jointype")]
    if side:
        made.set("side", side)
    if tree.is_natural:
        made.set("method", "NATURAL")
    elif tree.using_clause:
        made.set("using", [identifier(name) for name in strings(tree.using_clause)])
    elif tree.HasField("quals"):
        made.set("on", read(tree.quals))
    else:
        made.set("kind", "CROSS")
    if tree.HasField("join_using_alias"):
        made.set("using_alias", identifier(tree.join_using_alias.aliasname))
    return made


def table(tree: Tree) -> exp.Expr:
    made = exp.Table(this=placed(identifier(tree.relname), tree.location))
    if tree.schemaname:
        made.set("db", placed(identifier(tree.schemaname), tree.location))
    if tree.HasField("alias"):
        made.set("alias", table_alias(tree.alias))
    if not tree.inh:
        made.set("only", True)
    return made


def subquery(tree: Tree) -> exp.Expr:
    rows = unwrapped(tree.subquery)
    alias = table_alias(tree.alias)
    if is_list(rows):
        values = exp.Values(expressions=[exp.Tuple(expressions=all_of(row.list.items))
                                         for row in rows.values_lists])  # fmt: skip
        if tree.lateral:
            return exp.Lateral(this=exp.Subquery(this=values), alias=alias)
        values.set("alias", alias)
        return values
    if tree.lateral:
        return exp.Lateral(this=exp.Subquery(this=Unread(tree=rows)), alias=alias)
    return exp.Subquery(this=Unread(tree=rows), alias=alias)


def is_list(query: Tree) -> bool:
    """VALUES, and nothing else."""
    is_plain = query.DESCRIPTOR.name == "SelectStmt" and query.values_lists
    clauses = ("with_clause", "limit_count", "limit_offset")
    return bool(is_plain) and not (query.sort_clause or any(map(query.HasField, clauses)))


# --- functions ------------------------------------------------------------------------------------


def function(tree: Tree) -> exp.Expr:
    """A function sees what is before it, with LATERAL or without: the word is left out."""
    calls = [one.list.items for one in tree.functions]
    alias = table_alias(tree.alias) if tree.HasField("alias") else None
    if tree.is_rowsfrom:
        made = exp.Table(rows_from=[described(*call) for call in calls])
    else:
        made = exp.Table(this=read(calls[0][0]))
    if tree.coldeflist:
        alias = alias or exp.TableAlias()
        alias.set("columns", [definition(one.column_def) for one in tree.coldeflist])
    if alias is not None:
        made.set("alias", alias)
    if tree.ordinality:
        made.set("ordinality", True)
    return made


def described(call: Tree, columns: Tree) -> exp.Expr:
    definitions = columns.list.items if kind_of(columns) == "list" else ()
    if not definitions:
        return read(call)
    words = ", ".join(_definition_text(one.column_def) for one in definitions)
    return Described(this=read(call), words=f"({words})")


def _definition_text(tree: Tree) -> str:
    return f"{identifier(tree.colname).sql(dialect='postgres')} {type_text(tree.type_name)}"


def definition(tree: Tree) -> exp.ColumnDef:
    return exp.ColumnDef(this=identifier(tree.colname), kind=data_type(tree.type_name))


def _table_function(name: str, kind: str) -> Callable[[Tree], exp.Expr]:
    def made(tree: Tree) -> exp.Expr:
        from pgstream.sql.grammar import named

        alone = type(tree)()
        alone.CopyFrom(tree)
        alone.ClearField("alias")
        alone.ClearField("lateral")
        call = exp.Table(this=worded_relation(name, named(kind, alone), read))
        if tree.HasField("alias"):
            call.set("alias", table_alias(tree.alias))
        return call

    return made


def sample(tree: Tree) -> exp.Expr:
    made = relation(tree.relation)
    made.set("sample", exp.TableSample())
    return made


RELATIONS: dict[str, Callable[[Tree], exp.Expr]] = {
    "join_expr": joined,
    "json_table": _table_function("JSON_TABLE", "json_table"),
    "range_function": function,
    "range_subselect": subquery,
    "range_table_func": _table_function("XMLTABLE", "range_table_func"),
    "range_table_sample": sample,
    "range_var": table,
}
