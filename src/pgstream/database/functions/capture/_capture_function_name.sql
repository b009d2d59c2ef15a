-- The name of the function that fills the buffer of a source, as SQL has it.
CREATE OR REPLACE FUNCTION pgstream._capture_function_name(p_relid oid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('%I.capture_%s', pgstream._buffer_schema(p_relid), p_relid)
$$;

GRANT EXECUTE ON FUNCTION pgstream._capture_function_name(oid) TO PUBLIC;
