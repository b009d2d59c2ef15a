-- With cdc_mode auto: which sources stay on triggers, and why? Nothing is wrong with them.
CREATE OR REPLACE FUNCTION pgstream._check_wal(
    OUT severity text, OUT subject text, OUT message text, OUT hint text)
RETURNS SETOF record
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'notice', pgstream._relation_name(c.source_relid),
           'its changes are captured by triggers, not from the WAL: ' || o.problem, o.way_out
      FROM pgstream._captured_sources() c
     CROSS JOIN LATERAL pgstream._wal_obstacle(c.source_relid) o
     WHERE current_setting('pg_stream.cdc_mode', true) = 'auto'
       AND c.cdc_mode = 'TRIGGER' AND NOT c.is_stream AND o.problem IS NOT NULL
       AND EXISTS (SELECT FROM pg_class WHERE oid = c.source_relid)
     ORDER BY c.source_relid
$$;

GRANT EXECUTE ON FUNCTION pgstream._check_wal() TO PUBLIC;
