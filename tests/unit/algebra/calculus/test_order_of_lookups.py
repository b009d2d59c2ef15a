"""Which way a key goes down where both sides of a join have some of its columns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgstream.algebra.calculus.differentiate import differentiate
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.scan import Field, Lookup, Part, Scan, Source
from pgstream.algebra.types import INTEGER


def test_a_condition_that_few_rows_pass_leads_to_fewer() -> None:
    """Each order names a part; but few parts are of the brand that is asked for."""
    parts, changed = table(1, id=1.0), table(3, customer=1.0, part=1.0)
    orders = table(2, customer=10.0, part=30.0)
    joined = Join(Join(parts, orders, ((0, 1),)), changed, ((1, 0), (0, 1)))
    assert looked_up(joined, 3) == {"Lookup public.t2 by customer", "Lookup public.t1 by id"}
    few = replace(parts, where="brand = 1", share=0.01)
    assert looked_up(joined.with_inputs(Join(few, orders, ((0, 1),)), changed), 3) == {
        "Lookup public.t1 by id where brand = 1",
        "Lookup public.t2 by part",
    }


def table(relid: int, **per_value: float) -> Scan:
    fields = tuple(Field(name, INTEGER, per_value=n) for name, n in per_value.items())
    return Scan(Source(relid, "public", f"t{relid}", False), fields)


def looked_up(joined: Join, changed: int) -> set[str]:
    delta = differentiate(joined, {changed: frozenset((Part.COMMITTED,))})
    assert delta is not None
    return {node.describe() for node in delta.walk() if isinstance(node, Lookup)}


@pytest.mark.parametrize(
    ("per_nation", "wanted"),
    [
        (6000.0, {"Lookup public.t2 by supplier", "Lookup public.t1 by id"}),
        (2.0, {"Lookup public.t1 by nation", "Lookup public.t2 by customer"}),
    ],
)
def test_the_side_that_leads_to_fewer_rows_goes_first(per_nation: float, wanted: set[str]) -> None:
    """A supplier leads to its orders, or to all customers of its nation."""
    customers = table(1, id=1.0, nation=per_nation)
    orders = table(2, customer=10.0, supplier=600.0)
    suppliers = table(3, id=1.0, nation=400.0)
    joined = Join(Join(customers, orders, ((0, 0),)), suppliers, ((3, 0), (1, 1)))
    assert looked_up(joined, 3) == wanted
    assert looked_up(joined, 1) == {
        "Lookup public.t2 by customer",
        "Lookup public.t3 by id, nation",
    }
