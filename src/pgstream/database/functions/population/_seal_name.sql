-- The name of the index that keeps readers away.
CREATE OR REPLACE FUNCTION pgstream._seal_name(p_id bigint) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('__pgs_never_populated_%s', p_id)
$$;

GRANT EXECUTE ON FUNCTION pgstream._seal_name(bigint) TO PUBLIC;
