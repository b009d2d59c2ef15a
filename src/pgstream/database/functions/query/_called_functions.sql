-- The functions that run when a view is read: those that it uses, and those of its aggregates.
CREATE OR REPLACE FUNCTION pgstream._called_functions(p_view oid) RETURNS SETOF oid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT f.fn FROM pgstream._functions(p_view) f
    UNION
    SELECT support
      FROM pgstream._functions(p_view) f
     CROSS JOIN LATERAL pgstream._support_functions(f.fn) support
$$;

GRANT EXECUTE ON FUNCTION pgstream._called_functions(oid) TO PUBLIC;
