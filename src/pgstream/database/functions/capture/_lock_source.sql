-- Wait until nobody else changes the capture of this source.
CREATE OR REPLACE FUNCTION pgstream._lock_source(p_relid oid) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    -- An oid has no sign, an int has.
    SELECT pg_advisory_xact_lock(pgstream._source_lock(), (p_relid::bigint - 2147483648)::int)
$$;

REVOKE ALL ON FUNCTION pgstream._lock_source(oid) FROM PUBLIC;
