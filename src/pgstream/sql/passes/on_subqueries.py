"""on_subqueries: subqueries leave the ON of joins.

Of inner joins they go to WHERE, unless another join pads the rows with NULLs:

Before: FROM a JOIN b ON a.k = b.k AND EXISTS (SELECT …)
After:  FROM a JOIN b ON a.k = b.k WHERE EXISTS (SELECT …)

Of outer joins, a subquery that does not read the left side is computed with the right one:

Before: FROM a LEFT JOIN b ON a.k = b.k AND EXISTS (SELECT … b.x …)
After:  FROM a LEFT JOIN (SELECT b.k AS c0 FROM b WHERE EXISTS (SELECT … b.x …)) j ON a.k = j.c0

Any other makes the right side depend on the left one's rows:

Before: FROM a LEFT JOIN b ON a.k = b.k AND EXISTS (SELECT … a.x … b.x …)
After:  FROM a LEFT JOIN LATERAL (SELECT b.k AS c0 FROM b WHERE a.k = b.k AND EXISTS (…)) j ON true

A RIGHT JOIN is the LEFT JOIN of its sides exchanged. A FULL JOIN computes a subquery with the side
that it reads; if it reads both, it is a LEFT JOIN and the rows of the right side without a partner:

Before: FROM a FULL JOIN b ON C
After:  FROM (SELECT a.x AS c0, b.y AS c1 FROM a LEFT JOIN b ON C
              UNION ALL SELECT NULL, b.y FROM b WHERE NOT EXISTS (SELECT 1 FROM a WHERE C)) j

What cannot be said in other words stays: columns of USING around the join, whole rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from pgstream.sql.parse import Query
from pgstream.sql.passes.build import Names, all_of, as_item
from pgstream.sql.passes.join_chains import Chain, Joined, chains, put_from
from pgstream.sql.passes.quantified import compares_with_rows
from pgstream.sql.scope import free_columns
from pgstream.sql.walk import and_parts, is_subquery


def on_subqueries(query: Query) -> Query:
    tree: Query = query.copy()
    names = Names(tree)
    while any(_one(select, names) for select in list(tree.find_all(exp.Select))):
        pass  # what was made may have such joins again
    return tree


def _one(select: exp.Select, names: Names) -> bool:
    """Rewrites one join of the SELECT, if there is one to rewrite."""
    return any(
        _rewritten(chain, index, names)
        for chain in chains(select)
        for index, join in enumerate(chain.joins)
        if any(_subqueries(join.args.get("on")))
    )


def _rewritten(chain: Chain, index: int, names: Names) -> bool:
    join = chain.joins[index]
    if not join.side and chain.keeps(index):
        _move(join, chain.select)
        return True
    if not chain.can_wrap(index):
        return False
    match join.side.upper():
        case "RIGHT":
            chain.exchange(index)
        case "FULL":
            _full(chain, index, names)
        case _:
            _left(chain, index, names)
    return True


def _subqueries(condition: exp.Expr | None) -> Iterator[exp.Expr]:
    """The outermost expressions that are a subquery, or compare with its rows."""
    if condition is None:
        return
    if is_subquery(condition) or compares_with_rows(condition):
        yield condition
        return
    for part in condition.iter_expressions():
        if isinstance(part, exp.Query) and not is_subquery(part):
            yield condition
            return
        yield from _subqueries(part)


def _reads(node: exp.Expr, names: frozenset[str]) -> bool:
    return any(column.table in names for column in free_columns(node))


# --- inner joins ----------------------------------------------------------------------------------


def _move(join: exp.Join, select: exp.Select) -> None:
    conditions = and_parts(join.args["on"])
    moved = [part for part in conditions if part.find(exp.Query)]
    kept = [part for part in conditions if part not in moved]
    join.set("on", all_of(kept) if kept else exp.true())
    select.where(*(part.copy() for part in moved), dialect="postgres", copy=False)


# --- LEFT JOIN ------------------------------------------------------------------------------------


def _left(chain: Chain, index: int, names: Names) -> None:
    join = chain.joins[index]
    left = chain.left_names(index)
    parts = and_parts(join.args["on"])
    if any(_reads(found, left) for part in parts for found in _subqueries(part)):
        join.set("on", exp.true())
        chain.wrap(index, names, where=parts)
        return
    own = [part for part in parts if any(_subqueries(part)) and not _reads(part, left)]
    kept = [part for part in parts if part not in own]
    join.set("on", all_of(kept) if kept else exp.true())
    chain.wrap(index, names, where=own, values=list(_subqueries(join.args["on"])))


# --- FULL JOIN ------------------------------------------------------------------------------------


def _full(chain: Chain, index: int, names: Names) -> None:
    condition = chain.joins[index].args["on"]
    found = list(_subqueries(condition))
    left, right = chain.left_names(index), chain.right_names(index)
    if any(_reads(one, left) and _reads(one, right) for one in found):
        _with_unmatched(chain.split(index), condition, names)
        return
    of_left = [one for one in found if _reads(one, left)]
    of_right = [one for one in found if one not in of_left]
    if of_right:
        chain.wrap(index, names, values=of_right)
    if of_left:
        chain.wrap_left(index, names, values=of_left)


def _with_unmatched(join: Joined, condition: exp.Expr, names: Names) -> None:
    alias = names.new("j")
    ours, theirs = join.exports(alias)
    matched = exp.Select(expressions=[as_item(column, name) for column, name in (*ours, *theirs)])
    put_from(matched, join.left)
    outer = exp.Join(this=join.right.copy(), side="LEFT", on=condition.copy())
    matched.append("joins", outer)
    alone = exp.Select(
        expressions=[
            *(as_item(exp.null(), name) for _, name in ours),
            *(as_item(column, name) for column, name in theirs),
        ]
    )
    put_from(alone, join.right)
    alone.set("where", exp.Where(this=exp.Not(this=exp.Exists(this=_partners(join, condition)))))
    join.chain.put(exp.Union(this=matched, expression=alone, distinct=False), alias)


def _partners(join: Joined, condition: exp.Expr) -> exp.Select:
    made = exp.Select(expressions=[as_item(exp.Literal.number(1), "__pgs_one")])
    put_from(made, join.left)
    made.set("where", exp.Where(this=condition.copy()))
    return made
