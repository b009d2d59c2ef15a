-- The last refreshes of a stream table, the latest first.
CREATE OR REPLACE FUNCTION pgstream.get_refresh_history(name text, max_rows int DEFAULT 20)
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

GRANT EXECUTE ON FUNCTION pgstream.get_refresh_history(text, integer) TO PUBLIC;
