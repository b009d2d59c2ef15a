-- Fail because the query has a construct that is not supported; p_note is added to the reason.
CREATE OR REPLACE FUNCTION pgstream._refuse(
    p_construct text, p_query text DEFAULT '', p_note text DEFAULT '')
RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    refusal record;
BEGIN
    SELECT * INTO STRICT refusal FROM pgstream._refusals() WHERE construct = p_construct;
    RAISE EXCEPTION USING ERRCODE = 'PS015',
        MESSAGE = format('%s is not supported in a stream table''s query%s.', p_construct,
                         pgstream._keyword_position(p_query, refusal.keyword)),
        DETAIL = refusal.reason || p_note,
        HINT = refusal.way_out;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._refuse(text, text, text) TO PUBLIC;
