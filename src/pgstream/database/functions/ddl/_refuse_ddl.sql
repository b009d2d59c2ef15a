-- Fail because DDL would change what stream tables read.
CREATE OR REPLACE FUNCTION pgstream._refuse_ddl(p_sources text, p_readers text) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'PS023',
        MESSAGE = format('%s would change for those who read it: %s', p_sources, p_readers),
        DETAIL = p_readers,
        HINT = 'Drop them first, or allow it: SET pg_stream.block_source_ddl = off. '
               'They are computed again then, or are in status ERROR.';
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._refuse_ddl(text, text) TO PUBLIC;
