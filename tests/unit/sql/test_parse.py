"""A text that is not one SELECT is an error that says what it is, and where."""

from __future__ import annotations

import pytest

from pgstream import errors
from pgstream.sql.parse import parse
from pgstream.sql.positions import position_of

FAULTS = [
    ("", errors.EmptyQuery, "is empty", None),
    (" ; -- nothing", errors.EmptyQuery, "is empty", None),
    ("SELECT 1; SELECT 2", errors.MultipleStatements, "2 statements", None),
    ("INSERT INTO t VALUES (1)", errors.NotASelect, "not by INSERT", None),
    ("WITH q AS (DELETE FROM t RETURNING 1) SELECT 1 FROM q",
     errors.UnsupportedConstruct, "changes rows", (1, 1)),
    ("SELECT a\n  FRM t", errors.SyntaxFault, "yntax error", (2, 7)),
    ("SELECT 'ä€😀' AS a,\n 'ö' b FRM", errors.SyntaxFault, 'at or near "FRM"', (2, 8)),
    ("SELECT a FROM t ORDER BY a USING <", errors.UnsupportedConstruct, "USING", (1, 28)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "words", "place"), FAULTS)
def test_faults(
    text: str, kind: type[errors.QueryError], words: str, place: tuple[int, int] | None
) -> None:
    with pytest.raises(kind, match=words) as caught:
        parse(text)
    if place is not None:
        assert (caught.value.line, caught.value.column) == place


def test_places_count_characters() -> None:
    text = "SELECT 'ä€😀' AS a,\n b FROM t"
    assert position_of(text, parse(text).expressions[1]) == (2, 2)
