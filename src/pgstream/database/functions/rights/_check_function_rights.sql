-- Fail if p_caller may not call what the view uses, or if that belongs to a role that is not
-- trusted. Functions in a view run with the rights of the view's reader, not of its owner.
CREATE OR REPLACE FUNCTION pgstream._check_function_rights(p_view oid, p_caller oid)
RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    fn oid;
BEGIN
    FOR fn IN SELECT DISTINCT f.fn FROM pgstream._functions(p_view) f LOOP
        IF NOT has_function_privilege(p_caller, fn, 'EXECUTE') THEN
            RAISE EXCEPTION USING ERRCODE = 'PS009',
                MESSAGE = format('permission denied for function %s', fn::regprocedure);
        END IF;
        IF (SELECT pronamespace = pg_my_temp_schema() FROM pg_proc WHERE oid = fn) THEN
            RAISE EXCEPTION USING ERRCODE = 'PS015',
                MESSAGE = format('a stream table cannot use the temporary function %s',
                                 fn::regprocedure),
                HINT = 'Create the function in an ordinary schema.';
        END IF;
        PERFORM pgstream._require_trusted_function(fn);
    END LOOP;
    PERFORM pgstream._require_trusted_type(t) FROM pgstream._types(p_view) t;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._check_function_rights(oid, oid) TO PUBLIC;
