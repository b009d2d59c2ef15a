"""The sum of Z-sets; decimals widen to the largest scale."""

from dataclasses import replace
from functools import reduce

from pgstream.algebra.operators.union_all import UnionAll
from pgstream.engine.carriers import union_carrier
from pgstream.engine.spark.expressions import Rendered, cast
from pgstream.engine.spark.relation import Relation

# A union has as many partitions as it has terms.
SINGLE_TASK = "COALESCE(1)"


def union_all(node: UnionAll, *terms: Relation) -> Relation:
    """Of the terms that give rows."""
    if len(terms) == 1:
        return terms[0]
    columns = zip(*(term.carriers for term in terms), strict=True)
    carriers = [reduce(union_carrier, column) for column in columns]
    aligned: list[Relation] = []
    for term in terms:
        below = term.select()
        items = [
            Rendered(c.sql if c.carrier == wanted else cast(c.sql, wanted), wanted)
            for c, wanted in zip(below.columns(), carriers, strict=True)
        ]
        is_closed = term.open is None and list(term.carriers) == carriers
        aligned.append(term if is_closed else replace(below, items=tuple(items)).relation())
    # No parentheses: to tell ((SELECT …) … from a join, Spark's parser reads on to its end.
    text = " UNION ALL ".join(term.sql for term in aligned)
    return Relation(text, tuple(carriers), single_task=SINGLE_TASK)
