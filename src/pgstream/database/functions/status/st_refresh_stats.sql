-- Per stream table its state and the sums of its refreshes.
CREATE OR REPLACE FUNCTION pgstream.st_refresh_stats()
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

GRANT EXECUTE ON FUNCTION pgstream.st_refresh_stats() TO PUBLIC;
