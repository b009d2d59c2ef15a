"""filter_scans: what every reader of a table asks of its rows, PostgreSQL asks while it reads them.

    σ(p ∧ q)(R) … σ(p ∧ r)(R)   =   σq(Rₚ) … σr(Rₚ),   Rₚ = the rows of R for which p is true

Rows that do not pass are not read, and neither are those that only they would lead to: of a
change, of a lookup and of a whole table. Where one reader asks nothing, all of R is read once for
all of them. A condition moves if no value makes it fail: PostgreSQL may ask it before it compares
keys. What a scan computes has been computed of every row that is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from pgstream.algebra.expressions import Expression, conjunction, conjuncts, refs, to_postgres
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.scan import Scan, Source
from pgstream.algebra.optimize.everywhere import everywhere
from pgstream.algebra.optimize.safe import cannot_fail

Share = Callable[[Source, str], float]
"""The share of a table's rows that are expected to pass a condition."""
Asked = dict[str, None]
"""Conditions in PostgreSQL's dialect, in their order."""


def filter_scans(trees: Sequence[Node], others: Sequence[Node], share: Share) -> list[Node]:
    """The trees over scans with conditions. `others` read tables too, and stay as they are."""
    common = _common(trees, others)
    made = {source: " AND ".join(asked) for source, asked in common.items() if asked}
    shares = {source: share(source, where) for source, where in made.items()}

    def changed(node: Node) -> Node:
        scan = node.inputs[0] if isinstance(node, Filter) else None
        if not isinstance(node, Filter) or not isinstance(scan, Scan) or scan.source not in made:
            return node
        asked = common[scan.source]
        rest = conjunction([p for p in conjuncts(node.predicate) if _text(p, scan) not in asked])
        where, part = made[scan.source], shares[scan.source]
        narrowed = replace(scan, where=where, share=part)
        return narrowed if rest is None else Filter(narrowed, rest)

    return [everywhere(tree, changed) for tree in trees]


def _common(trees: Sequence[Node], others: Sequence[Node]) -> dict[Source, Asked]:
    """Of each table, what all ask who read it."""
    found: dict[Source, Asked] = {}
    for scan, asked in (*_readers(trees, True), *_readers(others, False)):
        known = found.get(scan.source, asked)
        found[scan.source] = {text: None for text in known if text in asked}
    return found


def _readers(trees: Sequence[Node], may_ask: bool) -> Iterator[tuple[Scan, Asked]]:
    """Each scan of a table with what one of its readers asks. Tables of our own are none: what is
    stored of them is maintained as a whole."""
    for tree in trees:
        for node in tree.walk():
            inputs = [tree, *node.inputs] if node is tree else node.inputs
            for scan in inputs:
                if isinstance(scan, Scan) and scan.source.relid > 0:
                    asks = may_ask and isinstance(node, Filter)
                    yield scan, dict.fromkeys(_texts(node, scan) if asks else ())


def _texts(node: Node, scan: Scan) -> Iterator[str]:
    assert isinstance(node, Filter)
    parts = (part for part in conjuncts(node.predicate) if refs(part) and cannot_fail(part))
    return (_text(part, scan) for part in parts)


def _text(part: Expression, scan: Scan) -> str:
    return to_postgres(part, lambda index: scan.fields[index].written)
