"""Texts, and what Spark's xxhash64 makes of them."""

from __future__ import annotations

SPARKS = {
    "": -7444071767201028348,
    "a": -8582455328737087284,
    "abc": 1423657621850124518,
    "Spark SQL": -8514049625603843977,
    "ä€😀": 7592677507766345462,
    "0123456789abcdef0123456789abcdef": 7380026953736478117,
    "Nobody inspects the spammish repetition, whatever its length may be, in all these years.": (
        -4635059205904178176
    ),
}
