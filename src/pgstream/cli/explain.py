"""pgstream explain"""

from __future__ import annotations

from rich.text import Text

from pgstream.cli.options import AsJson, Dsn, Embedded, Name, database
from pgstream.cli.output import emit, say


def explain(
    name: Name, dsn: Dsn = None, embedded: Embedded = None, as_json: AsJson = False
) -> None:
    """Show the trees that a refresh runs, and its stages.

    Example: pgstream explain totals
    """
    with database(dsn, embedded) as stream:
        rows = stream.explain(name)
    if as_json:
        emit([{"property": title, "value": value} for title, value in rows])
        return
    for title, value in rows:
        say(Text(title, style="bold cyan"))
        say("\n".join(f"  {line}" for line in value.splitlines()))
