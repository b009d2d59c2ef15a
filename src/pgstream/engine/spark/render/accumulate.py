"""Accumulators per group: linear ones as weighted sums, extremes of rows added and removed."""

from pgstream.algebra.operators.accumulate import LIMB, Accumulate, Accumulator, limbs_of
from pgstream.algebra.types import Type
from pgstream.engine.carriers import BIGINT, MAX_DIGITS, TEXT
from pgstream.engine.spark.expressions import Rendered
from pgstream.engine.spark.relation import Relation, select
from pgstream.engine.spark.render.aggregate import extreme, present, weighted_sum


def accumulate(node: Accumulate, input: Relation) -> Relation:
    columns = input.columns()
    types = [column.type for column in node.input.columns]
    keys = [columns[i] for i in node.keys]
    added = [value_of(a, columns, types) for a in node.accumulators]
    removed = [
        extreme(a.kind, columns[a.argument or 0], types[a.argument or 0], "w < 0")
        for a in node.removed
    ]
    grouped = select([*keys, *added, *removed], "CAST(1 AS BIGINT)", f"({input.sql})")
    by = f" GROUP BY {', '.join(key.sql for key in keys)}" if keys else ""
    return Relation(grouped.sql + by, grouped.carriers)


def value_of(accumulator: Accumulator, columns: list[Rendered], types: list[Type]) -> Rendered:
    if accumulator.argument is None:
        return Rendered("coalesce(SUM(w), 0)", BIGINT)
    argument, type_ = columns[accumulator.argument], types[accumulator.argument]
    match accumulator.kind:
        case "nn":
            return present(argument)
        case "sum":
            total = weighted_sum(argument, type_)
            return Rendered(f"coalesce({total.sql}, 0)", total.carrier)
        case "sq":
            return squares(argument, limbs_of(type_), accumulator.part or 0)
        case "scale":
            return extreme("max", argument, type_, "w > 0")
        case kind:
            return extreme(kind, argument, type_, "w > 0")


def squares(argument: Rendered, limbs: int, part: int) -> Rendered:
    """A part of Σ w·x², as text that PostgreSQL reads as a numeric.

    Squares have more digits than Spark holds. So the digits of x, without the point, are cut
    into limbs, d₀ the last: with B = 10^13 and s decimals,

        x² · 10^2s = Σ_k B^k · Σ_{i+j=k} dᵢ·dⱼ

    and each k is a part.
    """
    pairs = [(i, part - i) for i in range(limbs) if i <= part - i < limbs]
    products = " + ".join(
        f"{1 if i == j else 2} * {limb(argument, i)} * {limb(argument, j)}" for i, j in pairs
    )
    total = f"SUM(CAST(({products}) * CAST(w AS DECIMAL(19,0)) AS DECIMAL({MAX_DIGITS},0)))"
    exponent = LIMB * part - 2 * (argument.carrier.scale or 0)
    return Rendered(f"concat(CAST(coalesce({total}, 0) AS STRING), 'e{exponent}')", TEXT)


def limb(argument: Rendered, number: int) -> str:
    """Digits of the argument, the last ones first; its sign is left out."""
    value = argument.sql
    if argument.carrier.scale is None:
        value = f"CAST({value} AS DECIMAL({MAX_DIGITS},0))"
    width = MAX_DIGITS + 1
    digits = f"lpad(translate(CAST({value} AS STRING), '-.', ''), {width}, '0')"
    first = width - LIMB * (number + 1) + 1
    return f"CAST(substr({digits}, {first}, {LIMB}) AS DECIMAL({LIMB},0))"
