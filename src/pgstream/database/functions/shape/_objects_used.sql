-- The functions and types that a query uses, but for PostgreSQL's own: 'function public.f(integer)'
-- and 'type public.mood'.
CREATE OR REPLACE FUNCTION pgstream._objects_used(p_view oid) RETURNS text[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT ARRAY(
        SELECT 'function ' || p.oid::regprocedure
          FROM pgstream._called_functions(p_view) f JOIN pg_proc p ON p.oid = f
         WHERE p.pronamespace <> 'pg_catalog'::regnamespace
        UNION
        SELECT 'type ' || t::regtype FROM pgstream._types(p_view) t
          JOIN pg_type ON pg_type.oid = t
          LEFT JOIN pg_class c ON c.oid = pg_type.typrelid
         WHERE coalesce(c.relkind, 'c') = 'c'
         ORDER BY 1)
$$;

GRANT EXECUTE ON FUNCTION pgstream._objects_used(oid) TO PUBLIC;
