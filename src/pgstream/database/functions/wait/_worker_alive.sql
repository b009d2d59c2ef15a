-- Whether a worker is alive in this database.
CREATE OR REPLACE FUNCTION pgstream._worker_alive() RETURNS bool
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM pg_locks
         WHERE locktype = 'advisory' AND granted AND objsubid = 2
           AND classid = pgstream._worker_lock()::oid AND objid = 0
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
$$;

GRANT EXECUTE ON FUNCTION pgstream._worker_alive() TO PUBLIC;
