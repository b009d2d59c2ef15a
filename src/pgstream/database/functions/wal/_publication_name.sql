-- The name of the publication that tells the slot which tables to decode.
CREATE OR REPLACE FUNCTION pgstream._publication_name() RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'pg_stream_publication'
$$;

GRANT EXECUTE ON FUNCTION pgstream._publication_name() TO PUBLIC;
