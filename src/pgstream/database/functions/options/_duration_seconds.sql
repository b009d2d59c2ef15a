-- The seconds of a duration such as '1h30m'; NULL if it is not one.
CREATE OR REPLACE FUNCTION pgstream._duration_seconds(p_text text) RETURNS bigint
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT sum(coalesce(m[i], '0')::bigint * (ARRAY[604800, 86400, 3600, 60, 1])[i])::bigint
      FROM regexp_match(p_text,
               '^(?:(\d{1,9})w)?(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?$') m,
           generate_series(1, 5) i
     WHERE p_text <> '' AND m IS NOT NULL
$$;

GRANT EXECUTE ON FUNCTION pgstream._duration_seconds(text) TO PUBLIC;
