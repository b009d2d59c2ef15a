"""Stream tables for tests of the scheduler."""

from datetime import UTC, datetime, timedelta

from pgstream.catalog.records import Dependency, Mode, Status, StreamTable

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
# What a first refresh leaves behind, without Spark.
REFRESHED = """
UPDATE pgstream.pgs_stream_tables t SET is_populated = true, status = 'ACTIVE',
    data_timestamp = now(), frontier = jsonb_build_object('sources', (
        SELECT jsonb_object_agg(d.source_relid::text, jsonb_build_object(
            'snapshot', pg_current_snapshot()::text, 'lsn', pg_current_wal_insert_lsn()::text))
        FROM pgstream.pgs_dependencies d WHERE d.pgs_id = t.pgs_id))
WHERE pgs_name = ANY (%s)
"""


def table(
    id_: int,
    schedule: str | None = "1m",
    reads: tuple[int, ...] = (),
    age: float | None = 3600,
    sources: tuple[int, ...] = (),
) -> StreamTable:
    """Table t<id>, refreshed `age` seconds ago; None is never. `sources` are ordinary tables."""
    return StreamTable(
        id=id_,
        relid=1000 + id_,
        schema="public",
        name=f"t{id_}",
        defining_query="",
        original_query="",
        schedule=schedule,
        refresh_mode=Mode.DIFFERENTIAL,
        status=Status.ACTIVE if age is not None else Status.INITIALIZING,
        is_populated=age is not None,
        needs_reinit=False,
        frontier=None,
        consecutive_errors=0,
        data_timestamp=None if age is None else NOW - timedelta(seconds=age),
        last_refresh_at=None,
        last_error=None,
        updated_at=NOW,
        columns=("a",),
        dependencies=(
            *(Dependency(1000 + each, "public", f"t{each}", True, frozenset()) for each in reads),
            *(Dependency(each, "public", f"s{each}", False, frozenset()) for each in sources),
        ),
    )
