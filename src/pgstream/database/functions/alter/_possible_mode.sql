-- The mode that a stream table can have: its query is looked at as when it was created.
CREATE OR REPLACE FUNCTION pgstream._possible_mode(p_id bigint, p_mode text) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
DECLARE
    query text := (SELECT defining_query FROM pgstream.pgs_stream_tables WHERE pgs_id = p_id);
    mode text;
BEGIN
    DROP VIEW IF EXISTS pg_temp.__pgs_mode;
    EXECUTE 'CREATE TEMPORARY VIEW __pgs_mode AS ' || query;
    mode := pgstream._check_volatility('pg_temp.__pgs_mode'::regclass, p_mode);
    DROP VIEW pg_temp.__pgs_mode;
    RETURN pgstream._capturable_mode(
        ARRAY(SELECT source_relid FROM pgstream.pgs_dependencies WHERE pgs_id = p_id), mode);
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._possible_mode(bigint, text) TO PUBLIC;
