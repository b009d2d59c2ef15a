-- The schema of the buffer of a source, and of the function that fills it; that of new ones, if it
-- has none yet.
CREATE OR REPLACE FUNCTION pgstream._buffer_schema(p_relid oid) RETURNS name
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(
        (SELECT buffer_schema FROM pgstream.pgs_change_tracking WHERE source_relid = p_relid),
        (SELECT schema_name FROM pgstream.pgs_buffer_schemas WHERE is_current))
$$;

GRANT EXECUTE ON FUNCTION pgstream._buffer_schema(oid) TO PUBLIC;
