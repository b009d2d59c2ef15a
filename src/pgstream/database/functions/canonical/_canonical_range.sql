-- The query that makes $1 of this range type canonical. Its constructor has its name.
CREATE OR REPLACE FUNCTION pgstream._canonical_range(p_type oid) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('SELECT %I.%I(pgstream._canonical(lower($1)), pgstream._canonical(upper($1)),'
                  ' CASE WHEN lower_inc($1) THEN ''['' ELSE ''('' END ||'
                  ' CASE WHEN upper_inc($1) THEN '']'' ELSE '')'' END)', nspname, typname)
    FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace WHERE t.oid = p_type
$$;

GRANT EXECUTE ON FUNCTION pgstream._canonical_range(oid) TO PUBLIC;
