"""pg_stream_hash and pg_stream_hash_multi."""

from __future__ import annotations

import pytest

from hashes import SPARKS

WITH_SEED_0 = {  # as xxHash's documents give them
    "": 0xEF46DB3751D8E999,
    "a": 0xD24EC4F1A98C6E5B,
    "abc": 0x44BC2CF5AD770999,
    "Nobody inspects the spammish repetition": 0xFBCEA83C8A378BF1,
}


@pytest.mark.parametrize("text", WITH_SEED_0)
def test_it_is_xxhash(owner, text):
    (found,) = owner.execute("SELECT pgstream._xxh64(%s::bytea, 0)", (text.encode(),)).fetchone()
    assert found % 2**64 == WITH_SEED_0[text]


@pytest.mark.parametrize("text", SPARKS)
def test_it_has_sparks_seed(owner, text):
    assert owner.execute("SELECT pgstream.pg_stream_hash(%s)", (text,)).fetchone() == (
        SPARKS[text],
    )


def test_several_texts_are_separated_and_null_is_no_text(owner):
    def multi(*texts: str | None) -> int:
        row = owner.execute("SELECT pgstream.pg_stream_hash_multi(%s)", (list(texts),)).fetchone()
        return int(row[0])

    apart = [("ab", "c"), ("a", "bc"), ("abc",), ("c", "ab"), (None,), ("NULL",), (None, None), ()]
    assert len({multi(*each) for each in apart}) == len(apart)
    assert multi("a\x1eb") == multi("a", "b") == _hash(owner, b"a\x1eb")
    assert multi("a", None) == _hash(owner, b"a\x1e\x00NULL\x00")


def test_null_has_no_hash(owner):
    query = "SELECT pgstream.pg_stream_hash(NULL), pgstream.pg_stream_hash_multi(NULL)"
    assert owner.execute(query).fetchone() == (None, None)


def _hash(connection, data: bytes) -> int:
    return int(connection.execute("SELECT pgstream._xxh64(%s, 42)", (data,)).fetchone()[0])
