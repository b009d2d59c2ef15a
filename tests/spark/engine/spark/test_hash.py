"""pgstream.pg_stream_hash gives what Spark does; tests/postgres checks that side."""

from __future__ import annotations

from typing import Any

from hashes import SPARKS


def test_sparks_hashes(spark: Any) -> None:
    frame = spark.createDataFrame([(text,) for text in SPARKS], "text string")
    rows = frame.selectExpr("text", "xxhash64(text)").toArrow().to_pydict().values()
    assert dict(zip(*rows, strict=True)) == SPARKS
