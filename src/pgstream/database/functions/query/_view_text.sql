-- What PostgreSQL prints for a view, all names qualified.
CREATE OR REPLACE FUNCTION pgstream._view_text(p_view oid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT rtrim(btrim(pg_get_viewdef(p_view)), ';')
$$;

GRANT EXECUTE ON FUNCTION pgstream._view_text(oid) TO PUBLIC;
