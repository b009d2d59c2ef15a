-- Fail if a stream table in this mode cannot be refreshed on change.
CREATE OR REPLACE FUNCTION pgstream._check_followed(p_schedule text, p_mode text) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF p_schedule = 'on change' AND p_mode = 'FULL' THEN
        RAISE EXCEPTION USING ERRCODE = 'PS003',
            MESSAGE = 'a stream table in FULL mode cannot be refreshed on change: the changes of '
                      'its sources are not captured',
            HINT = 'Use DIFFERENTIAL mode, or a duration or a cron expression.';
    END IF;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._check_followed(text, text) TO PUBLIC;
