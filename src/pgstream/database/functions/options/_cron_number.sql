-- What a number or a name in a field of a cron expression stands for; NULL if it is neither. The
-- field is known by its highest number.
CREATE OR REPLACE FUNCTION pgstream._cron_number(p_text text, p_high int) RETURNS int
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE
        WHEN p_text ~ '^\d{1,2}$' THEN p_text::int
        WHEN p_high = 12 THEN array_position(ARRAY['jan', 'feb', 'mar', 'apr', 'may', 'jun',
                                                   'jul', 'aug', 'sep', 'oct', 'nov', 'dec'], p_text)
        WHEN p_high = 7 THEN array_position(ARRAY['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
                                            p_text) - 1
        END
$$;

GRANT EXECUTE ON FUNCTION pgstream._cron_number(text, integer) TO PUBLIC;
