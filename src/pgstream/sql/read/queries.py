"""Queries: SELECT with its clauses, set operations, WITH."""

from __future__ import annotations

from sqlglot import exp

from pgstream.errors import UnsupportedConstruct
from pgstream.sql.grammar import Tree, enum_name, kind_of, unwrapped
from pgstream.sql.nodes import Cycle, Search, Unread
from pgstream.sql.read.calls import named_window, order
from pgstream.sql.read.expressions import all_of, read
from pgstream.sql.read.names import identifier, placed, strings
from pgstream.sql.read.relations import from_clause

Query = exp.Select | exp.SetOperation
SETS: dict[str, type[exp.SetOperation]] = {
    "SETOP_UNION": exp.Union, "SETOP_INTERSECT": exp.Intersect, "SETOP_EXCEPT": exp.Except,
}  # fmt: skip
GROUPINGS: dict[str, type[exp.Expr]] = {
    "GROUPING_SET_ROLLUP": exp.Rollup, "GROUPING_SET_CUBE": exp.Cube,
    "GROUPING_SET_SETS": exp.GroupingSets,
}  # fmt: skip
CLAUSES = ("with_", "order", "limit", "offset", "locks")


def query(tree: Tree) -> Query:
    if tree.DESCRIPTOR.name != "SelectStmt":
        raise UnsupportedConstruct(
            "A statement that changes rows is not supported in a stream table's query.",
            construct="WITH",
            hint="Only SELECT can stand in WITH.",
        )
    made = select(tree) if enum_name(tree, "op") == "SETOP_NONE" else set_operation(tree)
    if tree.HasField("with_clause"):
        made.set("with_", with_clause(tree.with_clause))
    if tree.sort_clause:
        made.set("order", order(tree.sort_clause, read))
    if tree.HasField("limit_count"):
        made.set("limit", limit(tree))
    if tree.HasField("limit_offset"):
        made.set("offset", exp.Offset(expression=read(tree.limit_offset)))
    if tree.locking_clause:
        made.set("locks", [exp.Lock(update=True)])
    for inner in list(made.find_all(Unread)):
        inner.replace(query(inner.args["tree"]))
    return made


def select(tree: Tree) -> exp.Select:
    made = exp.Select(expressions=[item(target.res_target) for target in tree.target_list])
    from_clause(made, tree.from_clause)
    if tree.distinct_clause:
        made.set("distinct", distinct(tree.distinct_clause))
    if tree.HasField("into_clause"):
        made.set("into", exp.Into(this=identifier(tree.into_clause.rel.relname)))
    if tree.HasField("where_clause"):
        made.set("where", exp.Where(this=read(tree.where_clause)))
    if tree.group_clause:
        made.set("group", group(tree))
    if tree.HasField("having_clause"):
        made.set("having", exp.Having(this=read(tree.having_clause)))
    if tree.window_clause:
        made.set("windows", [named_window(one.window_def, read) for one in tree.window_clause])
    return made


def item(target: Tree) -> exp.Expr:
    value = read(target.val)
    return exp.Alias(this=value, alias=identifier(target.name)) if target.name else value


def distinct(keys: Tree) -> exp.Distinct:
    """DISTINCT has one empty node in the place of keys."""
    if kind_of(keys[0]) is None:
        return exp.Distinct()
    return exp.Distinct(on=exp.Tuple(expressions=all_of(keys)))


def group(tree: Tree) -> exp.Group:
    made = exp.Group(expressions=[grouped(key) for key in tree.group_clause])
    if tree.group_distinct:
        made.set("all", False)
    return made


def grouped(node: Tree) -> exp.Expr:
    if kind_of(node) != "grouping_set":
        return read(node)
    sets = node.grouping_set
    kind = GROUPINGS.get(enum_name(sets, "kind"))
    if kind is None:  # the empty set
        return exp.Tuple()
    return placed(kind(expressions=[grouped(one) for one in sets.content]), sets.location)


def limit(tree: Tree) -> exp.Expr:
    count = read(tree.limit_count)
    if enum_name(tree, "limit_option") != "LIMIT_OPTION_WITH_TIES":
        return exp.Limit(expression=count)
    options = exp.LimitOptions(rows=True, with_ties=True)
    return exp.Fetch(direction="FIRST", count=count, limit_options=options)


def set_operation(tree: Tree) -> exp.SetOperation:
    kind = SETS[enum_name(tree, "op")]
    left, right = query(tree.larg), query(tree.rarg)
    binds_tighter = kind is exp.Intersect and not isinstance(left, exp.Intersect)
    is_apart = isinstance(left, exp.SetOperation) and binds_tighter
    return kind(
        this=term(left, is_apart),
        expression=term(right, isinstance(right, exp.SetOperation)),
        distinct=not tree.all,
    )


def term(part: Query, is_apart: bool) -> exp.Expr:
    """In parentheses where it would be read otherwise."""
    if is_apart or any(part.args.get(clause) for clause in CLAUSES):
        return exp.Subquery(this=part)
    return part


def with_clause(tree: Tree) -> exp.With:
    ctes = [one.common_table_expr for one in tree.ctes]
    made = exp.With(expressions=[cte(one) for one in ctes])
    if tree.recursive:
        made.set("recursive", True)
    return made


def cte(tree: Tree) -> exp.CTE:
    alias = exp.TableAlias(this=identifier(tree.ctename))
    if tree.aliascolnames:
        alias.set("columns", [identifier(name) for name in strings(tree.aliascolnames)])
    made = exp.CTE(this=query(unwrapped(tree.ctequery)), alias=alias)
    materialized = enum_name(tree, "ctematerialized")
    if materialized != "CTEMaterializeDefault":
        made.set("materialized", materialized == "CTEMaterializeAlways")
    if tree.HasField("search_clause"):
        made.set("search", search(tree.search_clause))
    if tree.HasField("cycle_clause"):
        made.set("cycle", cycle(tree.cycle_clause))
    return made


def search(tree: Tree) -> Search:
    columns = [identifier(name) for name in strings(tree.search_col_list)]
    name = identifier(tree.search_seq_column)
    return Search(this=name, columns=columns, breadth=tree.search_breadth_first)


def cycle(tree: Tree) -> Cycle:
    return Cycle(
        this=identifier(tree.cycle_mark_column),
        columns=[identifier(name) for name in strings(tree.cycle_col_list)],
        value=read(tree.cycle_mark_value),
        default=read(tree.cycle_mark_default),
        path=identifier(tree.cycle_path_column),
    )
