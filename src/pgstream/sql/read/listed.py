"""VALUES that is a query of its own becomes a SELECT from VALUES.

Before: VALUES (1), (2) ORDER BY "*VALUES*".column1
After:  SELECT __pgs_values.column1 FROM (VALUES (1), (2)) __pgs_values
         ORDER BY __pgs_values.column1

So VALUES stands in FROM only. PostgreSQL calls its rows "*VALUES*".
"""

from __future__ import annotations

from sqlglot import exp

from pgstream.sql.grammar import Tree, children, parts, set_enum
from pgstream.sql.read.relations import is_list

TABLE = "__pgs_values"
PRINTED = "*VALUES*"


def select_values(tree: Tree) -> None:
    """Rewrites the tree in place."""
    kind = tree.DESCRIPTOR.name
    in_from = kind == "RangeSubselect" and is_list(tree.subquery.select_stmt)
    for part in tree.subquery.select_stmt.values_lists if in_from else children(tree):
        select_values(part)
    if kind == "SelectStmt" and tree.values_lists:
        _rewrite(tree)


def _rewrite(query: Tree) -> None:
    values = type(query)(op=query.op)
    set_enum(values, "limit_option", "LIMIT_OPTION_DEFAULT")
    values.values_lists.extend(query.values_lists)
    query.ClearField("values_lists")
    for number in range(len(values.values_lists[0].list.items)):
        fields = query.target_list.add().res_target.val.column_ref.fields
        fields.add().string.sval = TABLE
        fields.add().string.sval = f"column{number + 1}"
    relation = query.from_clause.add().range_subselect
    relation.subquery.select_stmt.CopyFrom(values)
    relation.alias.aliasname = TABLE
    for key in query.sort_clause:
        for part in parts(key):
            if part.DESCRIPTOR.name == "ColumnRef" and part.fields[0].string.sval == PRINTED:
                part.fields[0].string.sval = TABLE


def array_of_values(call: exp.Expr) -> exp.Values | None:
    """The VALUES in ARRAY(VALUES …), which is read as ARRAY(SELECT … FROM (VALUES …))."""
    select = call.expressions[0] if call.name == "ARRAY" and call.expressions else None
    if not isinstance(select, exp.Select) or set(_clauses(select)) != {"expressions", "from_"}:
        return None
    values = select.args["from_"].this
    is_listed = isinstance(values, exp.Values) and values.alias == TABLE
    return values if is_listed else None


def _clauses(select: exp.Select) -> list[str]:
    return [name for name, part in select.args.items() if part]
