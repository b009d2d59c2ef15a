"""The way from the user's text to the plan: one ordered tuple of passes.

Each pass takes a draft and returns it with one part more, or with a part replaced.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from pgstream.algebra.calculus.recursion import Recursion, with_homes
from pgstream.algebra.catalog import Catalog
from pgstream.algebra.lower.query import lower
from pgstream.algebra.nested import Hidden
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.scan import Source
from pgstream.algebra.optimize.filter_scans import filter_scans
from pgstream.algebra.optimize.keys import Facts, keys_of
from pgstream.algebra.optimize.optimize import optimize
from pgstream.algebra.plan import Plan, nest, over_aggregate, place_expressions, plan
from pgstream.algebra.top import Top, split_top
from pgstream.catalog.records import StreamTable
from pgstream.compile.aggregates_of import aggregates_of
from pgstream.compile.expand import expand
from pgstream.database.connection import Connection
from pgstream.errors import PermissionDenied, SyntaxFault
from pgstream.sql.deparsed import parse_deparsed
from pgstream.sql.parse import Query, parse
from pgstream.sql.passes import rewrite, run_passes
from pgstream.sql.passes.own_aggregates import own_aggregates


@dataclass(frozen=True)
class Draft:
    """A stream table on its way to its plan."""

    table: StreamTable
    connection: Connection
    catalog: Catalog
    stores_nested: bool = True
    query: Query | None = None
    top: Top | None = None
    tree: Node | None = None
    recursions: tuple[Recursion, ...] = ()
    hidden: tuple[Hidden, ...] = ()
    facts: Facts = frozenset()
    key: tuple[str, ...] | None = None
    plan: Plan | None = None


@dataclass(frozen=True)
class Pass:
    name: str
    meaning: str
    run: Callable[[Draft], Draft]


def check_text(text: str) -> None:
    """Refuses what the user's text shows to be unsupported, with its position.

    Text that our parser cannot read is PostgreSQL's to judge: what it accepts is checked again
    in its deparsed form.
    """
    with suppress(SyntaxFault):
        run_passes(parse(text), text)


def _checked(draft: Draft) -> Draft:
    check_text(draft.table.original_query)
    return draft


def _without_views(draft: Draft) -> Draft:
    return replace(draft, table=expand(draft.connection, draft.table))


def _read(draft: Draft) -> Draft:
    return replace(draft, query=parse_deparsed(draft.table.defining_query))


def _with_own_aggregates(draft: Draft) -> Draft:
    assert draft.query is not None
    aggregates = aggregates_of(draft.connection, draft.table)
    return replace(draft, query=own_aggregates(draft.query, aggregates))


def _allowed(draft: Draft) -> Draft:
    assert draft.query is not None
    # No position in a view is one in the user's text.
    text = "" if draft.table.views else draft.table.original_query
    return replace(draft, query=run_passes(draft.query, text))


def _rewritten(draft: Draft) -> Draft:
    assert draft.query is not None
    return replace(draft, query=rewrite(draft.query, draft.catalog))


def _without_top(draft: Draft) -> Draft:
    assert draft.query is not None
    query, top = split_top(draft.query, draft.catalog)
    return replace(draft, query=query, top=top)


def _lowered(draft: Draft) -> Draft:
    assert draft.query is not None
    names = (*draft.table.columns, *(draft.top.hidden if draft.top else ()))
    tree, recursions = lower(draft.query, draft.catalog, names)
    return replace(draft, tree=tree, recursions=recursions)


def _optimized(draft: Draft) -> Draft:
    assert draft.tree is not None
    tree, facts = optimize(draft.tree, draft.catalog)
    return replace(draft, tree=tree, facts=facts, key=_key(draft, tree))


def _key(draft: Draft, tree: Node) -> tuple[str, ...] | None:
    """The shortest key among the columns that users see."""
    names = draft.table.columns
    for key in keys_of(tree, draft.catalog):
        if all(column < len(names) for column in key.columns):
            return tuple(names[column] for column in sorted(key.columns))
    return None


def _housed(draft: Draft) -> Draft:
    assert draft.tree is not None
    table = draft.table
    home = None if draft.top else Source(table.relid, table.schema, table.name, True)
    tree, recursions = with_homes(draft.tree, draft.recursions, table.id, home)
    return replace(draft, tree=tree, recursions=recursions)


def _nested(draft: Draft) -> Draft:
    assert draft.tree is not None
    if not draft.stores_nested:
        return draft
    tree, hidden = nest(draft.tree, draft.table.id, draft.recursions)
    return replace(draft, tree=tree, hidden=hidden)


def _filtered(draft: Draft) -> Draft:
    assert draft.tree is not None
    trees = [draft.tree, *(each.aggregate for each in draft.hidden)]
    recursive = [tree for r in draft.recursions for tree in (r.base, r.step)]
    tree, *nested = filter_scans(trees, recursive, draft.catalog.share)
    return replace(draft, tree=tree, hidden=tuple(map(over_aggregate, draft.hidden, nested)))


def _placed(draft: Draft) -> Draft:
    assert draft.tree is not None
    tree, recursions, hidden = place_expressions(draft.tree, draft.recursions, draft.hidden)
    return replace(draft, tree=tree, recursions=recursions, hidden=hidden)


def _planned(draft: Draft) -> Draft:
    assert draft.tree is not None
    made = plan(draft.tree, draft.top, draft.recursions, draft.hidden, draft.facts, draft.key)
    return replace(draft, plan=made)


def _rightful(draft: Draft) -> Draft:
    assert draft.plan is not None
    known = {dependency.relid for dependency in draft.table.dependencies}
    for relid, scan in draft.plan.sources.items():
        if relid not in known:
            name = draft.table.full_name
            raise PermissionDenied(f"{name} reads {scan.source} without a right to.")
    return draft


PASSES: tuple[Pass, ...] = (
    # First, while positions are those of the user's own text.
    Pass("check text", "what the user's text shows to be unsupported is refused", _checked),
    Pass("inline views", "the defining query is printed with its views' queries", _without_views),
    Pass("read", "PostgreSQL's grammar reads what PostgreSQL printed", _read),
    # Before what rewrites: later passes rely on what it lets through.
    Pass("refuse", "what views brought in, or only the printed text shows, is refused", _allowed),
    # Before what rewrites: an aggregate's arguments are read below the grouping.
    Pass("tell aggregates", "calls of the user's aggregates are told from those of functions",
         _with_own_aggregates),
    Pass("rewrite", "the same rows by fewer constructs", _rewritten),
    # Before lowering: keys of the order that are not selected become hidden columns.
    Pass("split top", "ORDER BY … LIMIT leaves the query and becomes a part of the plan",
         _without_top),
    Pass("lower", "the syntax tree becomes a tree of operators", _lowered),
    # Here the tree says what is computed, and not yet by whom, nor where anything is stored.
    Pass("optimize", "the same rows by a cheaper tree", _optimized),
    Pass("find homes", "each recursive CTE gets the table that stores its rows", _housed),
    Pass("store nested state", "aggregates below other operators get hidden tables", _nested),
    # After what looks at conditions, and while they are as PostgreSQL writes them.
    Pass("filter scans", "what all ask who read a table, PostgreSQL asks while it reads",
         _filtered),
    # After all that changes the tree: each expression goes to where it is computed exactly.
    Pass("place expressions", "Spark computes what it computes as PostgreSQL does", _placed),
    Pass("plan", "what is stored, and how it is maintained", _planned),
    Pass("check sources", "the plan reads only what the creator's rights were checked on",
         _rightful),
)  # fmt: skip
