"""Division of numerics gives PostgreSQL's digits."""

from __future__ import annotations

import random
from decimal import Decimal

from pgstream.engine.spark.numeric import divide


def test_quotients_have_postgresqls_digits(database, request):
    seed = int(request.config.getoption("--hypothesis-seed") or 0)
    rng = random.Random(seed)
    connection = database.connect()
    values = ["0", "1", "-1", "3", "7", "9999", "10000", "10001", "0.5", "12.25", "99999999"]
    for _ in range(400):
        digits = "".join(rng.choice("0123456789") for _ in range(rng.randint(1, 12)))
        places = rng.randint(0, min(6, len(digits)))
        text = digits[: len(digits) - places] or "0"
        values.append(("-" if rng.random() < 0.3 else "") + text
                      + ("." + digits[-places:] if places else ""))  # fmt: skip
    for left in rng.sample(values, 150):
        for right in rng.sample(values, 10):
            if Decimal(right) == 0:
                continue
            (expected,) = connection.execute(
                "SELECT %s::numeric / %s::numeric", (left, right)
            ).fetchone()
            scales = [len(v.partition(".")[2]) for v in (left, left, right, right)]
            try:
                found = divide(Decimal(left), Decimal(right), *scales)
            except OverflowError:
                assert -expected.as_tuple().exponent > 24 or abs(expected) >= 10**14
                continue
            assert found == expected, (left, right, found, expected)
