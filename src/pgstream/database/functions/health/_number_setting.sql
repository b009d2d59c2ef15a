-- A setting that is a whole number, or its default if the session has none or a wrong one.
CREATE OR REPLACE FUNCTION pgstream._number_setting(p_name text, p_default bigint) RETURNS bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(substring(current_setting('pg_stream.' || p_name, true)
                              FROM '^\d{1,15}$')::bigint, p_default)
$$;

GRANT EXECUTE ON FUNCTION pgstream._number_setting(text, bigint) TO PUBLIC;
