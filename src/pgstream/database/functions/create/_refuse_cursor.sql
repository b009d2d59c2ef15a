-- Say why PostgreSQL opens no cursor for the query: several statements, SELECT INTO, no SELECT.
CREATE OR REPLACE FUNCTION pgstream._refuse_cursor(p_message text, p_query text)
RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF p_message LIKE '%multi-query%' THEN
        RAISE EXCEPTION USING ERRCODE = 'PS006',
            MESSAGE = 'the query holds several statements',
            HINT = 'A stream table is defined by one SELECT.';
    END IF;
    IF p_message LIKE '%SELECT INTO%' THEN
        PERFORM pgstream._refuse('SELECT INTO', p_query);
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'PS007', MESSAGE = 'the query is not a SELECT',
        DETAIL = p_message, HINT = 'A stream table is defined by one SELECT.';
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._refuse_cursor(text, text) TO PUBLIC;
