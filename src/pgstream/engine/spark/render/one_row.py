"""One row without columns."""

from pgstream.algebra.operators.one_row import OneRow
from pgstream.engine.spark.relation import Relation


def one_row(node: OneRow) -> Relation:
    return Relation("SELECT CAST(1 AS BIGINT) AS w", ())
