"""Views are cut out of the text and their queries pasted in."""

from __future__ import annotations

import pytest

from pgstream.sql.passes.inline_views import inline_views

VIEWS = {
    ("public", "v"): "SELECT t.a FROM public.t",
    ("public", "w"): "SELECT x.a FROM public.v x",
    ("Odd one", 'v"'): "SELECT 1 AS a",
}


@pytest.mark.parametrize(
    ("text", "inlined"),
    [
        ("SELECT a FROM public.t", "SELECT a FROM public.t"),
        ("SELECT a FROM public.v", 'SELECT a FROM (SELECT t.a FROM public.t) "v"'),
        ("SELECT a FROM public.v z(a)", "SELECT a FROM (SELECT t.a FROM public.t) z(a)"),
        (
            "SELECT w.a FROM public.w",
            'SELECT w.a FROM (SELECT x.a FROM (SELECT t.a FROM public.t) x) "w"',
        ),
        (
            'SELECT \'ä€😀\' AS s, y.a FROM (public.v y JOIN "Odd one"."v""" USING (a))',
            "SELECT 'ä€😀' AS s, y.a FROM ((SELECT t.a FROM public.t) y"
            ' JOIN (SELECT 1 AS a) "v""" USING (a))',
        ),
        (
            "WITH v AS (SELECT a FROM public.v) SELECT a FROM v",
            'WITH v AS (SELECT a FROM (SELECT t.a FROM public.t) "v") SELECT a FROM v',
        ),
        (
            "SELECT a FROM public.t WHERE EXISTS (SELECT 1 FROM public.v v_1)",
            "SELECT a FROM public.t WHERE EXISTS (SELECT 1 FROM (SELECT t.a FROM public.t) v_1)",
        ),
        ("SELECT a FROM other.v", "SELECT a FROM other.v"),
        ("SELECT a FROM ONLY public.v", "SELECT a FROM ONLY public.v"),
    ],
)
def test_views_are_inlined(text: str, inlined: str) -> None:
    assert inline_views(text, VIEWS) == inlined


def test_a_view_that_reads_itself_comes_to_an_end() -> None:
    views = {("public", "v"): "SELECT a FROM public.v"}
    assert inline_views("SELECT a FROM public.v", views).count("public.v") == 1
