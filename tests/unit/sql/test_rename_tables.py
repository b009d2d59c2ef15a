"""Tables in a query get the names that they have now."""

from __future__ import annotations

import pytest

from pgstream.sql.rename_tables import rename_tables

RENAMES = {("public", "t"): ("far", "t"), ("public", "u"): ("public", 'odd "u"')}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("SELECT t.a FROM public.t", 'SELECT t.a FROM "far"."t" "t"'),
        ("SELECT x.a FROM public.t x", 'SELECT x.a FROM "far"."t" x'),
        ("SELECT u.a FROM public.u", 'SELECT u.a FROM "public"."odd ""u""" "u"'),
        ('SELECT u.a FROM "public"."u"', 'SELECT u.a FROM "public"."odd ""u""" "u"'),
        ("SELECT a FROM other.t", "SELECT a FROM other.t"),
        ("SELECT 'public.t' AS a FROM public.v", "SELECT 'public.t' AS a FROM public.v"),
        (
            "WITH t AS (SELECT t.a FROM public.t) SELECT t.a, u.b FROM t JOIN public.u ON true",
            'WITH t AS (SELECT t.a FROM "far"."t" "t") SELECT t.a, u.b FROM t'
            ' JOIN "public"."odd ""u""" "u" ON true',
        ),
    ],
)
def test_rename(before: str, after: str) -> None:
    assert rename_tables(before, RENAMES) == after
