-- Alter a stream table. Runs as its caller, only to tell _alter who that is.
CREATE OR REPLACE FUNCTION pgstream.alter_stream_table(
    name text,
    schedule text DEFAULT NULL,
    refresh_mode text DEFAULT NULL,
    status text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pgstream._alter(current_user, name, schedule, refresh_mode, status);
END
$$;

GRANT EXECUTE ON FUNCTION pgstream.alter_stream_table(text, text, text, text) TO PUBLIC;
