-- The types in a view's trees, but for PostgreSQL's own. Every number there is looked at: one
-- that is the type's by chance does no harm unless that type is a stranger's.
CREATE OR REPLACE FUNCTION pgstream._types(p_view oid) RETURNS SETOF oid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT DISTINCT t.oid
      FROM pgstream._trees(p_view) tree
     CROSS JOIN LATERAL regexp_matches(tree, '\m\d{5,10}\M', 'g') m
      JOIN pg_type t ON t.oid::text = m[1]
$$;

GRANT EXECUTE ON FUNCTION pgstream._types(oid) TO PUBLIC;
