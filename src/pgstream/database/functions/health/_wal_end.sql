-- How far this server has got in the WAL, on a standby too.
CREATE OR REPLACE FUNCTION pgstream._wal_end() RETURNS pg_lsn
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
                ELSE pg_current_wal_lsn() END
$$;

GRANT EXECUTE ON FUNCTION pgstream._wal_end() TO PUBLIC;
