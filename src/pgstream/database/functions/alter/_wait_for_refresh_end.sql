-- Wait until no refresh of the stream table is under way, and keep others from starting.
CREATE OR REPLACE FUNCTION pgstream._wait_for_refresh_end(p_id bigint) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT pg_advisory_xact_lock(pgstream._refresh_lock(), p_id::int)
$$;

REVOKE ALL ON FUNCTION pgstream._wait_for_refresh_end(bigint) FROM PUBLIC;
