-- A duration such as '1h30m' as an interval; NULL if it is not one.
CREATE OR REPLACE FUNCTION pgstream._duration(p_text text) RETURNS interval
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT make_interval(secs => pgstream._duration_seconds(p_text))
$$;

GRANT EXECUTE ON FUNCTION pgstream._duration(text) TO PUBLIC;
