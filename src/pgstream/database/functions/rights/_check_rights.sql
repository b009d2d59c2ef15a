-- Fail if p_caller may not read or call what the view uses.
CREATE OR REPLACE FUNCTION pgstream._check_rights(p_view oid, p_caller oid) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pgstream._check_relation_rights(p_view, p_caller);
    PERFORM pgstream._check_function_rights(p_view, p_caller);
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._check_rights(oid, oid) TO PUBLIC;
