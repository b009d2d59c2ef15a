"""The sum of Z-sets; decimals widen to the largest scale."""

from functools import reduce

from pgstream.algebra.operators.union_all import UnionAll
from pgstream.engine.carriers import union_carrier
from pgstream.engine.expressions import Rendered, cast
from pgstream.engine.relation import Relation, select


def union_all(node: UnionAll, *terms: Relation) -> Relation:
    columns = zip(*(term.carriers for term in terms), strict=True)
    carriers = [reduce(union_carrier, column) for column in columns]
    aligned = []
    for term in terms:
        items = [
            Rendered(c.sql if c.carrier == wanted else cast(c.sql, wanted), wanted)
            for c, wanted in zip(term.columns(), carriers, strict=True)
        ]
        aligned.append(select(items, "w", f"({term.sql})").sql)
    return Relation(" UNION ALL ".join(f"({sql})" for sql in aligned), tuple(carriers))
