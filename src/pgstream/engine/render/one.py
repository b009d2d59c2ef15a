"""One row without columns."""

from pgstream.algebra.operators.one import One
from pgstream.engine.relation import Relation


def one(node: One) -> Relation:
    return Relation("SELECT CAST(1 AS BIGINT) AS w", ())
