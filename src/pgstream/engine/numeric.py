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
    left: Decimal | None, right: Decimal | None, left_scale: int, right_scale: int
) -> Decimal | None:
    """left / right; a scale of -1 means that trailing zeros are not the value's own."""
    if left is None or right is None:
        return None
    if right == 0:
        raise ZeroDivisionError("division by zero")
    scale = quotient_scale(
        left, right, _own_scale(left, left_scale), _own_scale(right, right_scale)
    )
    step = Decimal(1).scaleb(-scale)
    whole, rest = _EXACT.divmod(abs(left) * Decimal(10) ** scale, abs(right))
    if rest * 2 >= abs(right):
        whole += 1
    result = _EXACT.multiply(whole, step)
    result = -result if (left < 0) != (right < 0) else result
    held = result.normalize(_EXACT)
    exponent = held.as_tuple().exponent
    if isinstance(exponent, int) and (
        -exponent > QUOTIENT_SCALE or held.adjusted() >= MAX_DIGITS - QUOTIENT_SCALE
    ):
        raise OverflowError(f"the quotient {held} exceeds the digits that Spark holds")
    return held


def _own_scale(value: Decimal, scale: int) -> int:
    if scale >= 0:
        return scale
    exponent = value.normalize(_EXACT).as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def _leading_group(value: Decimal) -> tuple[int, int]:
    """Weight and value of the first group of four digits that is not zero."""
    if value == 0:
        return 0, 0
    place = value.adjusted() // DIGITS_PER_GROUP
    group = int(abs(value).scaleb(-place * DIGITS_PER_GROUP, _EXACT))
    return place, group
