-- Whether the changes of a source are read from the WAL. Then it has no triggers.
CREATE OR REPLACE FUNCTION pgstream._is_wal_captured(p_relid oid) RETURNS bool
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT FROM pgstream.pgs_change_tracking
                    WHERE source_relid = p_relid AND wal_since IS NOT NULL)
$$;

GRANT EXECUTE ON FUNCTION pgstream._is_wal_captured(oid) TO PUBLIC;
