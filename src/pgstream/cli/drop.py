"""pgstream drop"""

from __future__ import annotations

from pgstream.cli.options import AsJson, Dsn, Embedded, Name, database
from pgstream.cli.output import emit, say


def drop(name: Name, dsn: Dsn = None, embedded: Embedded = None, as_json: AsJson = False) -> None:
    """Drop a stream table. Its sources stay as they are.

    Example: pgstream drop totals
    """
    with database(dsn, embedded) as stream:
        full_name = stream.table(name).full_name
        stream.drop_stream_table(name)
    if as_json:
        emit({"dropped": full_name})
    else:
        say(f"Dropped {full_name}.")
