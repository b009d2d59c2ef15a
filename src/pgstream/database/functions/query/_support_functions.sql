-- The functions of which a user's aggregate is made. Those of PostgreSQL's own say for themselves
-- how volatile they are, and are trusted.
CREATE OR REPLACE FUNCTION pgstream._support_functions(p_function oid) RETURNS SETOF oid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT DISTINCT support
      FROM pg_aggregate a
      JOIN pg_proc p ON p.oid = a.aggfnoid
     CROSS JOIN LATERAL unnest(ARRAY[
            a.aggtransfn::oid, a.aggfinalfn::oid, a.aggcombinefn::oid, a.aggserialfn::oid,
            a.aggdeserialfn::oid, a.aggmtransfn::oid, a.aggminvtransfn::oid, a.aggmfinalfn::oid
            ]) support
     WHERE p.oid = p_function AND p.pronamespace <> 'pg_catalog'::regnamespace AND support <> 0
$$;

GRANT EXECUTE ON FUNCTION pgstream._support_functions(oid) TO PUBLIC;
