-- The role that installed pgstream, which is the role that runs it.
CREATE OR REPLACE FUNCTION pgstream._runner() RETURNS name
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = 'pgstream'
$$;

GRANT EXECUTE ON FUNCTION pgstream._runner() TO PUBLIC;
