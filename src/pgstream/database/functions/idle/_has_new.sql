-- Whether the buffer of a source has rows that the frontier p_seen has not seen, or such that can
-- be deleted once the frontier moves. If somebody is changing the buffer, he is not waited for.
CREATE OR REPLACE FUNCTION pgstream._has_new(p_relid oid, p_seen pg_snapshot) RETURNS bool
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET lock_timeout = '10ms' AS $$
DECLARE
    buffer text := pgstream._buffer_name(p_relid);
    found bool;
BEGIN
    IF to_regclass(buffer) IS NULL THEN
        RETURN true;
    END IF;
    EXECUTE format(
        'SELECT EXISTS (SELECT FROM %s WHERE __pgs_xid >= $1'
        ' AND (__pgs_xid < $2 OR NOT pg_visible_in_snapshot(__pgs_xid, $3)))', buffer)
        INTO found
        USING pg_snapshot_xmin(p_seen), pg_snapshot_xmin(pg_current_snapshot()), p_seen;
    RETURN found;
EXCEPTION WHEN lock_not_available THEN
    RETURN true;
END
$$;

REVOKE ALL ON FUNCTION pgstream._has_new(oid, pg_snapshot) FROM PUBLIC;
