-- Do for those that are idle what a refresh without changes does: they are as fresh as this moment,
-- and the history says so. Upstream first.
--
-- The frontier stays: what it has not seen, the snapshot of the look does not see either, so both
-- tell the same rows from the same others, for ever. If a refresh has moved it since, or is about
-- to, this says nothing about the table. A crash that loses what is noted here loses nothing.
CREATE OR REPLACE FUNCTION pgstream._note_idle(
    p_ids bigint[], p_initiator text, p_resting text[], p_cdc_mode text, p_capture_errors text,
    p_all bool, OUT pgs_id bigint, OUT name text)
RETURNS SETOF record
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    began constant timestamptz := clock_timestamp();
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    RETURN QUERY
    WITH found AS MATERIALIZED (
        SELECT i.pgs_id, i.frontier, i.place
          FROM pgstream._idle(p_ids, p_resting, p_cdc_mode, p_capture_errors, p_all)
               WITH ORDINALITY i(pgs_id, frontier, place)),
    held AS MATERIALIZED (
        SELECT t.pgs_id, f.place, t.data_timestamp + pgstream._duration(t.schedule) AS deadline
          FROM found f JOIN pgstream.pgs_stream_tables t ON t.pgs_id = f.pgs_id
         WHERE t.frontier = f.frontier AND NOT t.needs_reinit
           FOR NO KEY UPDATE OF t SKIP LOCKED),
    noted AS (
        UPDATE pgstream.pgs_stream_tables t
           SET data_timestamp = greatest(t.data_timestamp, began),
               last_refresh_at = clock_timestamp()
          FROM held WHERE held.pgs_id = t.pgs_id
        RETURNING t.pgs_id, format('%s.%s', t.pgs_schema, t.pgs_name) AS name, held.place,
                  held.deadline, t.data_timestamp),
    written AS (
        INSERT INTO pgstream.pgs_refresh_history
               (pgs_id, data_timestamp, start_time, end_time, action, status, initiated_by,
                freshness_deadline, reason, rows_inserted, rows_deleted, changes_read, rows_read,
                spark_actions, compute_ms, apply_ms, analysis_ms, planning_ms, running_ms,
                worker_pid)
        SELECT n.pgs_id, n.data_timestamp, began, clock_timestamp(), 'NO_DATA', 'COMPLETED',
               p_initiator, n.deadline, 'no changes', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
               pg_backend_pid()
          FROM noted n ORDER BY n.place)
    SELECT n.pgs_id, n.name FROM noted n ORDER BY n.place;
END
$$;

REVOKE ALL ON FUNCTION pgstream._note_idle(bigint[], text, text[], text, text, bool) FROM PUBLIC;
