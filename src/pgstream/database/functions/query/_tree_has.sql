-- Whether the stored tree of a view, or of a view below it, matches a pattern. OFFSET 0: else
-- PostgreSQL may match the trees of all views of the database first.
CREATE OR REPLACE FUNCTION pgstream._tree_has(p_view oid, p_pattern text) RETURNS bool
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM (
            SELECT r.ev_action::text AS tree
              FROM pgstream._views(p_view) v
              JOIN pg_rewrite r ON r.ev_class = v AND r.ev_type = '1' OFFSET 0) trees
         WHERE tree ~ p_pattern)
$$;

GRANT EXECUTE ON FUNCTION pgstream._tree_has(oid, text) TO PUBLIC;
