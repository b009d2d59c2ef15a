-- Whether a field of a cron expression is well-formed, its numbers between p_low and p_high.
CREATE OR REPLACE FUNCTION pgstream._is_cron_field(p_field text, p_low int, p_high int) RETURNS bool
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT bool_and(
        item ~ '^(\*|\?|\d{1,2}|\d{1,2}-\d{1,2}|[a-z]{3}|[a-z]{3}-[a-z]{3})(/[1-9]\d{0,2})?$'
        AND NOT EXISTS (
            SELECT FROM regexp_matches(split_part(item, '/', 1), '\d+', 'g') number
             WHERE number[1]::int NOT BETWEEN p_low AND p_high)
        AND NOT EXISTS (
            SELECT FROM regexp_matches(item, '[a-z]+', 'g') word
             WHERE NOT word[1] = ANY (CASE (p_low, p_high)
                 WHEN (1, 12) THEN ARRAY['jan', 'feb', 'mar', 'apr', 'may', 'jun',
                                         'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
                 WHEN (0, 7) THEN ARRAY['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
                 ELSE ARRAY[]::text[] END)))
      FROM regexp_split_to_table(lower(p_field), ',') item
$$;

GRANT EXECUTE ON FUNCTION pgstream._is_cron_field(text, integer, integer) TO PUBLIC;
