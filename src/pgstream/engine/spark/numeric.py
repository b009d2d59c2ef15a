"""numeric division as PostgreSQL does it: at least 16 significant digits, rounded half up."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal

from pgstream.engine.carriers import MAX_DIGITS, QUOTIENT_SCALE

MIN_SIGNIFICANT_DIGITS = 16
DIGITS_PER_GROUP = 4
_EXACT = Context(prec=2000, rounding=ROUND_HALF_UP)


def quotient_scale(left: Decimal, right: Decimal, left_scale: int, right_scale: int) -> int:
    """The number of decimals that PostgreSQL gives a quotient."""
    left_weight, left_group = _leading_group(left)
    right_weight, right_group = _leading_group(right)
    weight = left_weight - right_weight - (1 if left_group <= right_group else 0)
    scale = MIN_SIGNIFICANT_DIGITS - weight * DIGITS_PER_GROUP
    return min(max(scale, left_scale, right_scale, 0), 1000)


def divide(
    left: Decimal | None,
    right: Decimal | None,
    left_scale: int,
    left_most: int,
    right_scale: int,
    right_most: int,
) -> Decimal | None:
    """left / right. A scale of -1 means that a value's own scale is only known to be at most
    `most`; if PostgreSQL's digits depend on it, there is no answer."""
    if left is None or right is None:
        return None
    if right == 0:
        raise ZeroDivisionError("division by zero")
    least = quotient_scale(
        left, right, _own_scale(left, left_scale), _own_scale(right, right_scale)
    )
    scale = quotient_scale(left, right, left_most, right_most)
    result = _rounded(left, right, scale)
    if least != scale and _rounded(left, right, least) != result:
        raise OverflowError(
            "a quotient of numerics without a declared scale exceeds the digits that Spark holds"
        )
    exponent = result.as_tuple().exponent
    if isinstance(exponent, int) and (
        -exponent > QUOTIENT_SCALE or result.adjusted() >= MAX_DIGITS - QUOTIENT_SCALE
    ):
        raise OverflowError(f"the quotient {result} exceeds the digits that Spark holds")
    return result


def _rounded(left: Decimal, right: Decimal, scale: int) -> Decimal:
    """The quotient with this many decimals, half away from zero, without trailing zeros."""
    whole, rest = _EXACT.divmod(abs(left) * Decimal(10) ** scale, abs(right))
    if rest * 2 >= abs(right):
        whole += 1
    result = _EXACT.multiply(whole, Decimal(1).scaleb(-scale))
    return (-result if (left < 0) != (right < 0) else result).normalize(_EXACT)


def _own_scale(value: Decimal, scale: int) -> int:
    if scale >= 0:
        return scale
    exponent = value.normalize(_EXACT).as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def _leading_group(value: Decimal) -> tuple[int, int]:
    """Weight and value of the first group of four digits that is not zero."""
    if value == 0:
        return 0, 0
    weight = value.adjusted() // DIGITS_PER_GROUP
    group = int(abs(value).scaleb(-weight * DIGITS_PER_GROUP, _EXACT))
    return weight, group
