"""rename_tables: gives tables in a query the names that they have now.

Before: SELECT t.a FROM public.t WHERE t.a > 0
After:  SELECT t.a FROM "public"."u" "t" WHERE t.a > 0

The text is PostgreSQL's own: columns are named by the table's alias, or by its bare name, which
becomes the alias. It is cut and pasted, not written from a tree, as in inline_views.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from pgstream.sql.deparsed import parse_deparsed
from pgstream.sql.passes.inline_views import QUALIFIED, Cut

Renames = Mapping[tuple[str, str], tuple[str, str]]
"""By schema and name: schema and name."""


def rename_tables(text: str, renames: Renames) -> str:
    for cut in sorted(_cuts(text, renames), reverse=True):
        text = text[: cut.start] + cut.replacement + text[cut.end :]
    return text


def _cuts(text: str, renames: Renames) -> Iterator[Cut]:
    for table in parse_deparsed(text).find_all(exp.Table):
        now = renames.get((table.db, table.name))
        if now is None:
            continue
        replacement = ".".join(map(_quoted, now))
        if not table.alias:
            replacement = f"{replacement} {_quoted(table.name)}"
        written = QUALIFIED.match(text, table.this.meta["start"])
        assert written is not None
        yield Cut(written.start(), written.end(), replacement)


def _quoted(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql("postgres")
