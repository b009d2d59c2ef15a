"""The names that the specification gives to users exist here, or a document says why not."""

from __future__ import annotations

import pytest

from documents import REFERENCE, ROOT, names, rows
from pgstream.monitor import alerts
from pgstream.settings import DECLARED, WITHOUT_EFFECT

FUNCTIONS = {
    "create_stream_table": (
        "name text, query text, schedule text DEFAULT '1m'::text, "
        "refresh_mode text DEFAULT 'DIFFERENTIAL'::text, initialize boolean DEFAULT true",
        "void",
    ),
    "alter_stream_table": (
        "name text, schedule text DEFAULT NULL::text, refresh_mode text DEFAULT NULL::text, "
        "status text DEFAULT NULL::text",
        "void",
    ),
    "drop_stream_table": ("name text", "void"),
    "refresh_stream_table": ("name text", "void"),
    "pgs_status": (
        "",
        "TABLE(name text, status text, refresh_mode text, is_populated boolean, "
        "consecutive_errors integer, schedule text, data_timestamp timestamp with time zone, "
        "staleness interval",
    ),
    "st_refresh_stats": (
        "",
        "TABLE(pgs_name text, pgs_schema text, status text, refresh_mode text, "
        "is_populated boolean, total_refreshes bigint, successful_refreshes bigint, "
        "failed_refreshes bigint, total_rows_inserted bigint, total_rows_deleted bigint, "
        "avg_duration_ms double precision, last_refresh_action text, last_refresh_status text, "
        "last_refresh_at timestamp with time zone, staleness_secs double precision, stale boolean",
    ),
    "get_refresh_history": (
        "name text, max_rows integer DEFAULT 20",
        "TABLE(refresh_id bigint, data_timestamp timestamp with time zone, "
        "start_time timestamp with time zone, end_time timestamp with time zone, action text, "
        "status text, rows_inserted bigint, rows_deleted bigint, duration_ms double precision, "
        "error_message text",
    ),
    "get_staleness": ("name text", "double precision"),
    "slot_health": (
        "",
        "TABLE(slot_name text, source_relid bigint, active boolean, retained_wal_bytes bigint, "
        "wal_status text",
    ),
    "check_cdc_health": (
        "",
        "TABLE(source_relid bigint, source_table text, cdc_mode text, slot_name text, "
        "lag_bytes bigint, confirmed_lsn text, alert text",
    ),
    "explain_st": ("name text", "TABLE(property text, value text"),
    "pg_stream_hash": ("input text", "bigint"),
    "pg_stream_hash_multi": ("inputs text[]", "bigint"),
    "dump_config": ("", "text"),
    "restore_config": ("config text", "bigint"),
}
RELATIONS = {
    "pgs_stream_tables": "pgs_id bigint, pgs_relid oid, pgs_name text, pgs_schema text, "
    "defining_query text, schedule text, refresh_mode text, status text, is_populated boolean, "
    "data_timestamp timestamptz, frontier jsonb, last_refresh_at timestamptz, "
    "consecutive_errors integer, needs_reinit boolean, functions_used text[], "
    "created_at timestamptz, updated_at timestamptz, original_query text",
    "pgs_dependencies": "pgs_id bigint, source_relid oid, source_type text, columns_used text[], "
    "cdc_mode text, slot_name text, decoder_confirmed_lsn pg_lsn, "
    "transition_started_at timestamptz",
    "pgs_refresh_history": "refresh_id bigint, pgs_id bigint, data_timestamp timestamptz, "
    "start_time timestamptz, end_time timestamptz, action text, rows_inserted bigint, "
    "rows_deleted bigint, error_message text, status text, initiated_by text, "
    "freshness_deadline timestamptz",
    "pgs_change_tracking": "source_relid oid, slot_name text, last_consumed_lsn pg_lsn, "
    "tracked_by_pgs_ids bigint[]",
    "stream_tables_info": "pgs_id bigint, staleness interval, stale boolean",
    "pg_stat_stream_tables": "pgs_id bigint, pgs_schema text, pgs_name text, status text, "
    "refresh_mode text, data_timestamp timestamptz, staleness interval, stale boolean, "
    "total_refreshes bigint, successful_refreshes bigint, failed_refreshes bigint, "
    "avg_duration_ms double precision, consecutive_errors integer",
}
SETTINGS = """
enabled scheduler_interval_ms min_schedule_seconds max_consecutive_errors change_buffer_schema
max_concurrent_refreshes differential_max_change_ratio cleanup_use_truncate merge_planner_hints
merge_work_mem_mb merge_strategy use_prepared_statements user_triggers block_source_ddl cdc_mode
wal_transition_timeout
"""
EVENTS = """
stale_data auto_suspended reinitialize_needed buffer_growth_warning slot_lag_warning
cdc_transition_complete cdc_transition_failed refresh_completed refresh_failed resumed
scheduler_falling_behind
"""
CHANNELS = ("pg_stream_alert", "pg_stream_cdc_transition")
ABSENT = """
generate_migration log_level min_target_lag_seconds adaptive_full_threshold stale lag_exceeded
buffer_lag_warning _get_stats pg_stream_cdc_fn_<oid> set_query next_create_is_stream stream_query
pgstream_fdw
"""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_its_signature(owner, name):
    found = owner.execute(
        "SELECT pg_get_function_arguments(oid), pg_get_function_result(oid) FROM pg_proc"
        " WHERE pronamespace = 'pgstream'::regnamespace AND proname = %s",
        (name,),
    ).fetchall()
    ((arguments, result),) = found
    wanted, returned = FUNCTIONS[name]
    assert arguments == wanted
    if returned.startswith("TABLE("):  # ours may tell more
        assert f"{result.removesuffix(')')}, ".startswith(f"{returned}, ")
    else:
        assert result == returned


def test_hashes_may_stand_in_indexes_and_run_in_parallel(owner):
    query = (
        "SELECT DISTINCT provolatile::text, proparallel::text FROM pg_proc"
        " WHERE pronamespace = 'pgstream'::regnamespace AND proname LIKE 'pg\\_stream\\_hash%'"
    )
    assert owner.execute(query).fetchall() == [("i", "s")]


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_table_or_view_has_its_columns(owner, relation):
    found = owner.execute(
        "SELECT format('%%s %%s', attname, replace(format_type(atttypid, atttypmod),"
        " 'timestamp with time zone', 'timestamptz')) FROM pg_attribute"
        " WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped",
        (f"pgstream.{relation}",),
    ).fetchall()
    assert set(RELATIONS[relation].split(", ")) <= {column for (column,) in found}


def test_every_setting_is_known() -> None:
    assert set(SETTINGS.split()) <= {each.name for each in DECLARED} | WITHOUT_EFFECT.keys()


def test_every_event_is_described() -> None:
    events = rows(REFERENCE / "catalog.md", "event", "when")
    assert {name for row in events for name in names(row[0])} == set(EVENTS.split())


def test_every_event_has_a_constructor_but_those_of_sql() -> None:
    made = [name for name in EVENTS.split() if not name.startswith("cdc_transition_")]
    assert all(hasattr(alerts, name) for name in made)


def test_every_channel_is_described() -> None:
    listed = {names(row[0])[0] for row in rows(REFERENCE / "catalog.md", "channel", "payload")}
    assert set(CHANNELS) <= listed


def test_what_is_absent_has_a_reason() -> None:
    listed = rows(ROOT / "docs" / "design" / "deviations.md", "absent name", "why")
    assert {name for row in listed for name in names(row[0])} == set(ABSENT.split())
    assert all(why for _, why in listed)
