-- Per stream table its state and the sums of its refreshes.
CREATE OR REPLACE VIEW pgstream.pg_stat_stream_tables AS
SELECT st.pgs_id, st.pgs_schema, st.pgs_name, st.status, st.refresh_mode, st.is_populated,
       st.schedule, st.data_timestamp, st.staleness, st.stale, s.total_refreshes,
       s.successful_refreshes, s.failed_refreshes, s.total_rows_inserted, s.total_rows_deleted,
       s.avg_duration_ms, s.last_refresh_action, s.last_refresh_status, st.last_refresh_at,
       st.consecutive_errors, st.last_error, st.needs_reinit
  FROM pgstream.stream_tables_info st
  JOIN pgstream.st_refresh_stats() s USING (pgs_schema, pgs_name);

GRANT SELECT ON pgstream.pg_stat_stream_tables TO PUBLIC;
