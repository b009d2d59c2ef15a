-- Tell who creates a stream table that it is filled later, and how to wait for it.
CREATE OR REPLACE FUNCTION pgstream._announce_build(p_schema text, p_name text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE NOTICE USING
        MESSAGE = format('stream table %I.%I is empty until a worker has built it, after the commit',
                         p_schema, p_name),
        HINT = format('To wait for it: SELECT pgstream.wait_for_stream_table(%L).',
                      format('%I.%I', p_schema, p_name))
               || CASE WHEN pgstream._worker_alive() THEN ''
                       ELSE ' No worker is alive; start one with: pgstream serve.' END;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._announce_build(text, text) TO PUBLIC;
