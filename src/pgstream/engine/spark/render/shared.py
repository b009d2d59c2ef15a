"""A relation that is too large to be computed apart is computed where it is read."""

from pgstream.algebra.operators.shared import Shared
from pgstream.engine.spark.relation import Relation


def shared(node: Shared, input: Relation) -> Relation:
    return input
