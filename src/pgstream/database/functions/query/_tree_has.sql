-- Whether the stored tree of a view, or of a view below it, matches a pattern.
CREATE OR REPLACE FUNCTION pgstream._tree_has(p_view oid, p_pattern text) RETURNS bool
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM pgstream._views(p_view) v
          JOIN pg_rewrite r ON r.ev_class = v AND r.ev_type = '1'
         WHERE r.ev_action::text ~ p_pattern)
$$;

GRANT EXECUTE ON FUNCTION pgstream._tree_has(oid, text) TO PUBLIC;
