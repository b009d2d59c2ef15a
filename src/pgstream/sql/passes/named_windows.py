"""named_windows: writes each named window where it is used.

Before: SELECT sum(x) OVER w, rank() OVER (w ORDER BY y) FROM t WINDOW w AS (PARTITION BY k)
After:  SELECT sum(x) OVER (PARTITION BY k), rank() OVER (PARTITION BY k ORDER BY y) FROM t
"""

from __future__ import annotations

from sqlglot import exp

from pgstream.sql.levels import is_query
from pgstream.sql.parse import Query
from pgstream.sql.passes.build import Names, everywhere

PARTS = ("partition_by", "order", "spec")


def named_windows(query: Query) -> Query:
    return everywhere(query, _expand)


def _expand(select: exp.Select, names: Names) -> exp.Select:
    definitions = select.args.get("windows")
    if not definitions:
        return select
    select = select.copy()
    windows: dict[str, exp.Window] = {}
    for definition in select.args["windows"]:
        _complete(definition, windows)
        windows[definition.name] = definition
    select.set("windows", None)
    for clause in (*select.expressions, select.args.get("order"), select.args.get("distinct")):
        for part in clause.walk(prune=is_query) if clause else ():
            if isinstance(part, exp.Window):
                _complete(part, windows)
    return select


def _complete(window: exp.Window, windows: dict[str, exp.Window]) -> None:
    """A window that names another has its partition, and its order and frame if it has none."""
    name = window.args.get("alias")
    if name is None:
        return
    window.set("alias", None)
    for part in PARTS:
        inherited = windows[name.name].args.get(part)
        if inherited and not window.args.get(part):
            copies = [p.copy() for p in inherited] if part == "partition_by" else inherited.copy()
            window.set(part, copies)
