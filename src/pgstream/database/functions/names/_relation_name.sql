-- The quoted, qualified name of a relation, or its number if it is gone.
CREATE OR REPLACE FUNCTION pgstream._relation_name(p_relid oid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(
        (SELECT format('%I.%I', n.nspname, c.relname)
           FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE c.oid = p_relid),
        format('(dropped relation %s)', p_relid))
$$;

GRANT EXECUTE ON FUNCTION pgstream._relation_name(oid) TO PUBLIC;
