-- The status that a user may set, as it is stored; NULL stays NULL.
CREATE OR REPLACE FUNCTION pgstream._check_status(p_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF p_text IS NULL OR upper(btrim(p_text)) IN ('ACTIVE', 'SUSPENDED') THEN
        RETURN upper(btrim(p_text));
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'PS017',
        MESSAGE = format('%s is not a status that can be set', quote_literal(p_text)),
        HINT = 'Use ACTIVE or SUSPENDED.';
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._check_status(text) TO PUBLIC;
