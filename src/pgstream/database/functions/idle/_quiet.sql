-- Those of these stream tables that have a result and nothing to mend, and whose buffers have
-- nothing new. A source that is captured from the WAL is never quiet: its changes are known when
-- the WAL is decoded. One that shall be is not when its transition is tried next.
CREATE OR REPLACE FUNCTION pgstream._quiet(p_ids bigint[], p_cdc_mode text) RETURNS bigint[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (
    WITH able AS MATERIALIZED (
        SELECT t.pgs_id, t.frontier -> 'sources' AS sources
          FROM pgstream.pgs_stream_tables t
         WHERE t.pgs_id = ANY (p_ids) AND t.status = 'ACTIVE' AND t.is_populated
           AND t.refresh_mode <> 'FULL' AND NOT t.needs_reinit
           AND t.consecutive_errors = 0 AND t.last_error IS NULL
           AND NOT EXISTS (SELECT FROM pgstream.pgs_refresh_history h
                            WHERE h.pgs_id = t.pgs_id AND h.status = 'RUNNING')),
    reads AS MATERIALIZED (
        SELECT a.pgs_id, d.source_relid AS relid, d.source_type,
               (a.sources #>> ARRAY[d.source_relid::text, 'snapshot'])::pg_snapshot AS seen,
               d.cdc_mode, coalesce(k.wal_next_attempt <= clock_timestamp(), true) AS is_due
          FROM able a JOIN pgstream.pgs_dependencies d USING (pgs_id)
          LEFT JOIN pgstream.pgs_change_tracking k USING (source_relid)
         WHERE d.source_type <> 'VIEW'),
    moved AS MATERIALIZED (
        SELECT DISTINCT relid, seen::text AS seen
          FROM (SELECT DISTINCT relid, seen::text AS seen FROM reads) r
         WHERE CASE WHEN seen IS NULL THEN true
                    ELSE pgstream._has_new(relid, seen::pg_snapshot) END
            OR EXISTS (SELECT FROM pgstream.pgs_capture_failures f
                        WHERE f.source_relid = relid
                          AND NOT pg_visible_in_snapshot(f.xid, seen::pg_snapshot)))
    SELECT coalesce(array_agg(a.pgs_id), '{}')
      FROM able a
     WHERE NOT EXISTS (
        SELECT FROM reads r
         WHERE r.pgs_id = a.pgs_id
           AND (r.cdc_mode = 'WAL' OR r.seen IS NULL
                OR EXISTS (SELECT FROM moved m WHERE m.relid = r.relid AND m.seen = r.seen::text)
                OR r.cdc_mode = 'TRANSITIONING' AND (p_cdc_mode = 'trigger' OR r.is_due)
                OR r.source_type = 'TABLE' AND r.is_due AND CASE p_cdc_mode
                       WHEN 'wal' THEN true
                       WHEN 'auto' THEN
                           (SELECT o.problem IS NULL FROM pgstream._wal_obstacle(r.relid) o)
                   END)));
END
$$;

REVOKE ALL ON FUNCTION pgstream._quiet(bigint[], text) FROM PUBLIC;
