-- Create the views and functions that show the state of the stream tables.

-- A cron schedule and a CALCULATED one have no duration, so stale is NULL.
CREATE VIEW pgstream.stream_tables_info AS
SELECT st.*,
       now() - st.data_timestamp AS staleness,
       now() - st.data_timestamp > pgstream._duration(st.schedule) AS stale
  FROM pgstream.pgs_stream_tables st;

CREATE FUNCTION pgstream.st_refresh_stats()
RETURNS TABLE (
    pgs_name text, pgs_schema text, status text, refresh_mode text, is_populated bool,
    total_refreshes bigint, successful_refreshes bigint, failed_refreshes bigint,
    total_rows_inserted bigint, total_rows_deleted bigint, avg_duration_ms float8,
    last_refresh_action text, last_refresh_status text, last_refresh_at timestamptz,
    staleness_secs float8, stale bool)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT st.pgs_name, st.pgs_schema, st.status, st.refresh_mode, st.is_populated,
           h.total, h.successful, h.failed, h.inserted, h.deleted, h.avg_ms,
           latest.action, latest.status, st.last_refresh_at,
           extract(epoch FROM st.staleness)::float8, st.stale
      FROM pgstream.stream_tables_info st
     CROSS JOIN LATERAL (
        SELECT count(*) AS total,
               count(*) FILTER (WHERE r.status = 'COMPLETED') AS successful,
               count(*) FILTER (WHERE r.status = 'FAILED') AS failed,
               coalesce(sum(r.rows_inserted), 0)::bigint AS inserted,
               coalesce(sum(r.rows_deleted), 0)::bigint AS deleted,
               (extract(epoch FROM avg(r.end_time - r.start_time)
                        FILTER (WHERE r.status = 'COMPLETED')) * 1000)::float8 AS avg_ms
          FROM pgstream.pgs_refresh_history r
         WHERE r.pgs_id = st.pgs_id AND r.status <> 'SKIPPED') h
      LEFT JOIN LATERAL (
        SELECT r.action, r.status FROM pgstream.pgs_refresh_history r
         WHERE r.pgs_id = st.pgs_id AND r.status <> 'SKIPPED'
         ORDER BY r.refresh_id DESC LIMIT 1) latest ON true
     ORDER BY st.pgs_schema, st.pgs_name
$$;

CREATE VIEW pgstream.pg_stat_stream_tables AS
SELECT st.pgs_id, st.pgs_schema, st.pgs_name, st.status, st.refresh_mode, st.is_populated,
       st.schedule, st.data_timestamp, st.staleness, st.stale, s.total_refreshes,
       s.successful_refreshes, s.failed_refreshes, s.total_rows_inserted, s.total_rows_deleted,
       s.avg_duration_ms, s.last_refresh_action, s.last_refresh_status, st.last_refresh_at,
       st.consecutive_errors, st.last_error, st.needs_reinit
  FROM pgstream.stream_tables_info st
  JOIN pgstream.st_refresh_stats() s USING (pgs_schema, pgs_name);

CREATE FUNCTION pgstream.pgs_status()
RETURNS TABLE (
    name text, status text, refresh_mode text, is_populated bool, consecutive_errors int,
    schedule text, data_timestamp timestamptz, staleness interval)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT st.pgs_schema || '.' || st.pgs_name, st.status, st.refresh_mode, st.is_populated,
           st.consecutive_errors, st.schedule, st.data_timestamp, st.staleness
      FROM pgstream.stream_tables_info st
     ORDER BY st.pgs_schema, st.pgs_name
$$;

CREATE FUNCTION pgstream.get_refresh_history(name text, max_rows int DEFAULT 20)
RETURNS TABLE (
    refresh_id bigint, data_timestamp timestamptz, start_time timestamptz, end_time timestamptz,
    action text, status text, rows_inserted bigint, rows_deleted bigint, duration_ms float8,
    error_message text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT r.refresh_id, r.data_timestamp, r.start_time, r.end_time, r.action, r.status,
           r.rows_inserted, r.rows_deleted,
           (extract(epoch FROM r.end_time - r.start_time) * 1000)::float8, r.error_message
      FROM pgstream.pgs_refresh_history r
     WHERE r.pgs_id = pgstream._resolve(get_refresh_history.name)
     ORDER BY r.refresh_id DESC
     LIMIT greatest(max_rows, 0)
$$;

CREATE FUNCTION pgstream.get_staleness(name text) RETURNS float8
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT extract(epoch FROM now() - st.data_timestamp)::float8
      FROM pgstream.pgs_stream_tables st
     WHERE st.pgs_id = pgstream._resolve(get_staleness.name)
$$;

CREATE FUNCTION pgstream.explain_st(name text)
RETURNS TABLE (property text, value text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT p.property, p.value
      FROM pgstream.pgs_stream_tables st
     CROSS JOIN LATERAL (
        SELECT 1, v.position, v.property, v.value
          FROM (VALUES (1, 'Defining Query', st.defining_query),
                       (2, 'Refresh Mode', st.refresh_mode),
                       (3, 'Status', st.status)) v(position, property, value)
        UNION ALL
        SELECT 2, e.position, e.item ->> 'property', e.item ->> 'value'
          FROM jsonb_array_elements(st.explanation) WITH ORDINALITY e(item, position)
     ) p(part, position, property, value)
     WHERE st.pgs_id = pgstream._resolve(explain_st.name)
     ORDER BY p.part, p.position
$$;
