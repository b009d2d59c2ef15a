-- The operators in a view's trees that are not PostgreSQL's own.
CREATE OR REPLACE FUNCTION pgstream._foreign_operators(p_view oid) RETURNS oid[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT ARRAY(
        SELECT DISTINCT o.oid
          FROM pgstream._trees(p_view) tree
         CROSS JOIN LATERAL regexp_matches(tree, ':opnos? (?:\(o )?([\d ]+)', 'g') m
         CROSS JOIN LATERAL string_to_table(btrim(m[1]), ' ') number
          JOIN pg_operator o ON o.oid = number::oid
         WHERE o.oprnamespace <> 'pg_catalog'::regnamespace
         ORDER BY 1)
$$;

GRANT EXECUTE ON FUNCTION pgstream._foreign_operators(oid) TO PUBLIC;
