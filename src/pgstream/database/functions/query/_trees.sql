-- The stored trees of a view and the views below it, and those of the default arguments of the
-- functions in them: a default is filled in when the query is planned.
CREATE OR REPLACE FUNCTION pgstream._trees(p_view oid) RETURNS SETOF text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE trees(tree) AS (
        SELECT r.ev_action::text
          FROM pgstream._views(p_view) v
          JOIN pg_rewrite r ON r.ev_class = v AND r.ev_type = '1'
        UNION
        SELECT p.proargdefaults::text
          FROM trees
         CROSS JOIN LATERAL regexp_matches(tree, ':funcid (\d+)', 'g') m
          JOIN pg_proc p ON p.oid = m[1]::oid
         WHERE p.proargdefaults IS NOT NULL)
    SELECT tree FROM trees
$$;

GRANT EXECUTE ON FUNCTION pgstream._trees(oid) TO PUBLIC;
