-- The refresh mode as it is stored.
CREATE OR REPLACE FUNCTION pgstream._check_mode(p_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF upper(btrim(p_text)) IN ('FULL', 'DIFFERENTIAL', 'AUTO') THEN
        RETURN upper(btrim(p_text));
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'PS004',
        MESSAGE = format('%s is not a refresh mode', quote_nullable(p_text)),
        HINT = 'Use DIFFERENTIAL, FULL or AUTO.';
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._check_mode(text) TO PUBLIC;
