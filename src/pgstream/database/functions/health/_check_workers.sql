-- Is somebody there to refresh what has a schedule?
CREATE OR REPLACE FUNCTION pgstream._check_workers(
    OUT severity text, OUT subject text, OUT message text, OUT hint text)
RETURNS SETOF record
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'warning', 'worker', 'no worker is alive in this database', 'Start one: pgstream serve'
     WHERE NOT pgstream._worker_alive()
       AND EXISTS (SELECT FROM pgstream.pgs_stream_tables
                    WHERE status IN ('ACTIVE', 'INITIALIZING'))
$$;

GRANT EXECUTE ON FUNCTION pgstream._check_workers() TO PUBLIC;
