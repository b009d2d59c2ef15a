-- Create a stream table. Has no search_path of its own, as _create.
CREATE OR REPLACE FUNCTION pgstream.create_stream_table(
    name text,
    query text,
    schedule text DEFAULT '1m',
    refresh_mode text DEFAULT 'DIFFERENTIAL',
    initialize bool DEFAULT true)
RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pgstream._create(name, query, query, schedule, refresh_mode, initialize);
END
$$;

GRANT EXECUTE ON FUNCTION pgstream.create_stream_table(text, text, text, text, boolean) TO PUBLIC;
