"""inline_views: puts the query of a view where a query reads the view.

Before: SELECT v.a FROM public.v WHERE v.a > 0
After:  SELECT v.a FROM (SELECT t.x AS a FROM public.t) "v" WHERE v.a > 0

All texts are PostgreSQL's own, in which a table's name has its schema and that of a CTE has none,
so no name can mean something else in its new place. The text is cut and pasted, not written from a
tree: what PostgreSQL has printed stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sqlglot import exp

from pgstream.sql.deparsed import parse_deparsed

NAME = r'(?:"(?:[^"]|"")+"|[\w$]+)'
QUALIFIED = re.compile(rf"{NAME}\.{NAME}")

Definitions = Mapping[tuple[str, str], str]
"""The query of a view, by schema and name."""


class Cut(NamedTuple):
    start: int
    end: int
    replacement: str


def inline_views(text: str, views: Definitions) -> str:
    """The text without views, to any depth. Views do not read themselves, so there are at most
    as many levels as views."""
    for _ in views:
        cuts = sorted(_cuts(text, views), reverse=True)
        if not cuts:
            break
        for cut in cuts:
            text = text[: cut.start] + cut.replacement + text[cut.end :]
    return text


def _cuts(text: str, views: Definitions) -> Iterator[Cut]:
    for table in parse_deparsed(text).find_all(exp.Table):
        definition = views.get((table.db, table.name))
        if definition is None or table.args.get("only"):
            continue
        name = exp.to_identifier(table.name, quoted=True).sql("postgres")
        replacement = f"({definition})" if table.alias else f"({definition}) {name}"
        written = QUALIFIED.match(text, table.this.meta["start"])
        assert written is not None
        yield Cut(written.start(), written.end(), replacement)
