-- Drop a stream table. Runs as its caller, only to tell _drop who that is.
CREATE OR REPLACE FUNCTION pgstream.drop_stream_table(name text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pgstream._drop(current_user, name);
END
$$;

GRANT EXECUTE ON FUNCTION pgstream.drop_stream_table(text) TO PUBLIC;
