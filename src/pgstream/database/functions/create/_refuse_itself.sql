-- Fail if "relation ... does not exist" speaks of the stream table to be created.
CREATE OR REPLACE FUNCTION pgstream._refuse_itself(
    p_message text, p_nsp text, p_rel text, p_schemas name[])
RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF position(format('"%s.%s"', p_nsp, p_rel) IN p_message) > 0
       OR position(format('"%s"', p_rel) IN p_message) > 0 AND p_nsp = ANY (p_schemas::text[])
    THEN
        RAISE EXCEPTION USING ERRCODE = 'PS008',
            MESSAGE = format('the stream table would depend on itself: %1$I.%2$I -> %1$I.%2$I',
                             p_nsp, p_rel),
            HINT = 'For a recursive query use WITH RECURSIVE.';
    END IF;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._refuse_itself(text, text, text, name[]) TO PUBLIC;
