"""Four tables of two columns, and worlds in which any of them change, in any of the parts."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from hypothesis import strategies as st
from law_cases import tables
from reference import World, ZSet, minus, plus

from pgstream.algebra.operators.scan import Field, Part, Scan, Source
from pgstream.algebra.types import INTEGER

COMMITTED = frozenset((Part.COMMITTED,))


def table(relid: int, per_value: float = 1.0) -> Scan:
    """Statistics say that a value is there once; the rows of the tests do not care."""
    fields = tuple(Field(name, INTEGER, per_value=per_value) for name in ("k", "x"))
    return Scan(Source(relid, "public", f"t{relid}", is_stream=relid > 2), fields)


SCANS = tuple(map(table, (1, 2, 3, 4)))
BOTH = tuple(frozenset(parts) for n in (1, 2) for parts in combinations(Part, n))


@st.composite
def worlds(draw: st.DrawFn) -> tuple[World, dict[int, frozenset[Part]]]:
    """Any of the tables change, in any of the parts that they may."""
    stored, committed, pending, changed = {}, {}, {}, {}
    for scan in SCANS:
        relid = scan.source.relid
        parts = draw(st.sampled_from((frozenset(), *(BOTH if relid > 2 else (COMMITTED,)))))
        before, now, after = draw(tables), draw(tables), draw(tables)
        stored[relid] = now
        committed[relid] = difference(now, before) if Part.COMMITTED in parts else Counter()
        pending[relid] = difference(after, now) if Part.PENDING in parts else Counter()
        if parts:
            changed[relid] = parts
    return World(stored, committed, pending), changed


def difference(after: ZSet, before: ZSet) -> ZSet:
    return plus(after, minus(before))
