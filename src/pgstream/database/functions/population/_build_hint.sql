-- What to do about a stream table that could not be built.
CREATE OR REPLACE FUNCTION pgstream._build_hint(p_schema text, p_name text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('Drop it: SELECT pgstream.drop_stream_table(%1$L). If the cause is gone, build '
                  'it again: SELECT pgstream.refresh_stream_table(%1$L).',
                  format('%I.%I', p_schema, p_name))
$$;

GRANT EXECUTE ON FUNCTION pgstream._build_hint(text, text) TO PUBLIC;
