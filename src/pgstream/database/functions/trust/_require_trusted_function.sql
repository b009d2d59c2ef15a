-- Fail unless the function is PostgreSQL's own or belongs to a trusted role; of an aggregate, also
-- the functions that it is made of, and the type of its state, whose checks may be called.
CREATE OR REPLACE FUNCTION pgstream._require_trusted_function(p_function oid) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    stranger oid;
BEGIN
    SELECT oid INTO stranger FROM pg_proc
     WHERE (oid = p_function OR oid IN (SELECT pgstream._support_functions(p_function)))
       AND pronamespace <> 'pg_catalog'::regnamespace AND NOT pgstream._is_trusted(proowner)
     LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PS009',
            MESSAGE = format('the function %s does not belong to role %I, which runs pgstream',
                             stranger::regprocedure, pgstream._runner()),
            DETAIL = 'It would run with the rights of that role.',
            HINT = format('If you mean what PostgreSQL has, write its schema: '
                          'a OPERATOR(pg_catalog.=) b, pg_catalog.upper(a). If you trust this '
                          'function: ALTER ROUTINE %s OWNER TO %I',
                          stranger::regprocedure, pgstream._runner());
    END IF;
    PERFORM pgstream._require_trusted_type(state)
       FROM pg_aggregate a JOIN pg_proc p ON p.oid = a.aggfnoid
      CROSS JOIN LATERAL unnest(ARRAY[a.aggtranstype, a.aggmtranstype]) state
      WHERE p.oid = p_function AND p.pronamespace <> 'pg_catalog'::regnamespace AND state <> 0;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._require_trusted_function(oid) TO PUBLIC;
