-- Fail if no worker is alive.
CREATE OR REPLACE FUNCTION pgstream._require_worker() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT pgstream._worker_alive() THEN
        RAISE EXCEPTION USING ERRCODE = 'PS013',
            MESSAGE = 'no pgstream worker is alive in this database',
            HINT = format('start one with: pgstream serve --dsn "dbname=%s ..."',
                          current_database());
    END IF;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._require_worker() TO PUBLIC;
