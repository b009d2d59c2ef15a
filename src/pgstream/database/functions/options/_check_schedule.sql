-- The schedule as it is stored; NULL is CALCULATED.
CREATE OR REPLACE FUNCTION pgstream._check_schedule(p_text text) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    seconds bigint := pgstream._duration_seconds(btrim(p_text));
    least_seconds bigint := coalesce(substring(
        current_setting('pg_stream.min_schedule_seconds', true) FROM '^\d{1,9}$')::bigint, 60);
BEGIN
    IF p_text IS NULL OR upper(btrim(p_text)) = 'CALCULATED' THEN
        RETURN NULL;
    END IF;
    IF btrim(p_text) ~* '^on\s+change$' THEN
        RETURN 'on change';
    END IF;
    IF seconds IS NULL AND NOT pgstream._is_cron(p_text) THEN
        RAISE EXCEPTION USING ERRCODE = 'PS003',
            MESSAGE = format('%s is neither a duration nor a cron expression',
                             quote_literal(p_text)),
            HINT = 'Examples: ''5m'', ''1h30m'' (units w d h m s, in this order), '
                   '''*/5 * * * *'', ''@hourly'', ''on change'', ''CALCULATED''.';
    END IF;
    IF seconds < greatest(least_seconds, 1) THEN
        RAISE EXCEPTION USING ERRCODE = 'PS003',
            MESSAGE = format('the schedule %s is shorter than the minimum of %s s',
                             quote_literal(p_text), greatest(least_seconds, 1)),
            HINT = 'Choose a longer one, or lower pg_stream.min_schedule_seconds.';
    END IF;
    RETURN btrim(p_text);
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._check_schedule(text) TO PUBLIC;
