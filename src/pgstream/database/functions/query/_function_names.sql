-- The functions that a query names, as the catalog lists them: qualified, but for those of
-- PostgreSQL itself.
CREATE OR REPLACE FUNCTION pgstream._function_names(p_view oid) RETURNS text[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(array_agg(DISTINCT CASE n.nspname WHEN 'pg_catalog' THEN p.proname::text
                                       ELSE format('%I.%I', n.nspname, p.proname) END), '{}')
      FROM pgstream._functions(p_view) f
      JOIN pg_proc p ON p.oid = f.fn
      JOIN pg_namespace n ON n.oid = p.pronamespace
     WHERE f.by_name
$$;

GRANT EXECUTE ON FUNCTION pgstream._function_names(oid) TO PUBLIC;
