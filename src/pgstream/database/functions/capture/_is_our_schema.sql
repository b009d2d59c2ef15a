-- Whether a schema is one of pgstream's.
CREATE OR REPLACE FUNCTION pgstream._is_our_schema(p_name name) RETURNS bool
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT p_name IN ('pgstream', 'pgstream_state')
        OR EXISTS (SELECT FROM pgstream.pgs_buffer_schemas WHERE schema_name = p_name)
$$;

GRANT EXECUTE ON FUNCTION pgstream._is_our_schema(name) TO PUBLIC;
