-- Fail unless the function is PostgreSQL's own or belongs to a trusted role.
CREATE OR REPLACE FUNCTION pgstream._require_trusted_function(p_function oid) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_proc
                WHERE oid = p_function AND pronamespace <> 'pg_catalog'::regnamespace
                  AND NOT pgstream._is_trusted(proowner)) THEN
        RAISE EXCEPTION USING ERRCODE = 'PS009',
            MESSAGE = format('the function %s does not belong to role %I, which runs pgstream',
                             p_function::regprocedure, pgstream._runner()),
            DETAIL = 'It would run with the rights of that role.',
            HINT = format('If you mean what PostgreSQL has, write its schema: '
                          'a OPERATOR(pg_catalog.=) b, pg_catalog.upper(a). If you trust this '
                          'function: ALTER FUNCTION %s OWNER TO %I',
                          p_function::regprocedure, pgstream._runner());
    END IF;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._require_trusted_function(oid) TO PUBLIC;
