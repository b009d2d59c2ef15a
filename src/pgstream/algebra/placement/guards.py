"""guards: an expression in a scan is computed only for rows that WHERE keeps.

    SELECT 1 / x FROM t WHERE x <> 0        the scan computes CASE WHEN x <> 0 THEN 1 / x END

PostgreSQL does not compute the SELECT list of a row that WHERE drops, so an expression that
fails there must not fail in the scan. The NULL that stands in such a row's place is never seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from pgstream.sql.nodes import Operation
from pgstream.sql.walk import and_parts, is_join

# What never fails, whatever its operands are.
SAFE = (
    exp.Column, exp.Identifier, exp.Literal, exp.Null, exp.Boolean, exp.Paren, exp.And, exp.Or,
    exp.Not, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Is, exp.DPipe,
    exp.Coalesce, exp.Nullif, exp.Length, exp.Var, exp.DataType,
)  # fmt: skip
SAFE_FUNCTIONS = frozenset(
    "lower upper initcap btrim ltrim rtrim md5 reverse date_trunc date_part concat extract".split()
)
SAFE_OPERATORS = frozenset(("~~", "!~~", "~~*", "!~~*", "->", "->>"))
VOLATILE = frozenset(
    """clock_timestamp currval gen_random_uuid lastval nextval random random_normal setval timeofday
    uuidv4 uuidv7""".split()
)
SAFE_TARGETS = (exp.DataType.Type.TEXT, exp.DataType.Type.VARCHAR)


def may_fail(node: exp.Expr) -> bool:
    """Whether some values might make PostgreSQL raise an error."""
    return not all(map(_is_safe, node.walk()))


def _is_safe(node: exp.Expr) -> bool:
    if isinstance(node, exp.Anonymous):
        return node.name.lower() in SAFE_FUNCTIONS
    if isinstance(node, exp.Cast):
        return isinstance(node.this, exp.Literal) or node.to.this in SAFE_TARGETS
    if isinstance(node, Operation):
        return node.args["operator"] in SAFE_OPERATORS
    return isinstance(node, SAFE)


def is_guard(condition: exp.Expr) -> bool:
    """Whether the condition has one value for a row, however often it is computed: FULL mode
    knows volatile functions. PostgreSQL qualifies the names of all functions but its own."""
    if condition.find(exp.Column) is None:
        return False
    return not any(
        part.name.lower() in VOLATILE or isinstance(part.parent, exp.Dot)
        for part in condition.find_all(exp.Anonymous)
    )


def guarded(text: str, conditions: Sequence[str]) -> str:
    if not conditions:
        return text
    return f"CASE WHEN {' AND '.join(f'({c})' for c in conditions)} THEN {text} END"


def filtered_tables(select: exp.Select) -> frozenset[str]:
    """The aliases of tables whose rows are in the result only if they pass WHERE: no outer join
    puts a padded row in their place."""
    items = _all_items(select)
    if any(side in ("RIGHT", "FULL") for _, side, _ in items):
        return frozenset()
    return frozenset(node.alias_or_name for node, _, padded in items
                     if isinstance(node, exp.Table) and not padded)  # fmt: skip


def on_conditions(select: exp.Select) -> list[exp.Expr]:
    """What ON asks of the rows of those tables: PostgreSQL asks it together with WHERE."""
    asked = (
        node.args.get("on")
        for node, side, padded in _all_items(select)
        if isinstance(node, exp.Join) and not side and not padded
    )
    return [part for on in asked if on is not None for part in and_parts(on)]


def _all_items(select: exp.Select) -> list[tuple[exp.Expr, str, bool]]:
    clause = select.args.get("from_")
    if clause is None:
        return []
    joins = select.args.get("joins") or ()
    return [*_items(clause.this, False), *(item for join in joins for item in _joined(join, False))]


def _items(node: exp.Expr, padded: bool) -> Iterator[tuple[exp.Expr, str, bool]]:
    """The FROM items below, the side of their join, and whether a LEFT JOIN pads them."""
    if is_join(node):
        yield from _items(node.this, padded)
    else:
        yield node, "", padded
    for join in node.args.get("joins") or ():
        yield from _joined(join, padded)


def _joined(join: exp.Join, padded: bool) -> Iterator[tuple[exp.Expr, str, bool]]:
    side = join.side.upper()
    yield join, side, padded
    yield from _items(join.this, padded or side == "LEFT")
