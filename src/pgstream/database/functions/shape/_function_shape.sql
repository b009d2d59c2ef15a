-- What a function computes, as a hash: its body and all that changes what it means.
CREATE OR REPLACE FUNCTION pgstream._function_shape(p_function oid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT md5(concat_ws(E'\n', p.prolang, p.prosrc, p.probin, p.prosqlbody, p.prorettype,
                         p.proretset, p.provolatile, p.proisstrict, p.prosecdef, p.proconfig,
                         p.proargdefaults, p.prokind, a))
      FROM pg_proc p LEFT JOIN pg_aggregate a ON a.aggfnoid = p.oid
     WHERE p.oid = p_function
$$;

GRANT EXECUTE ON FUNCTION pgstream._function_shape(oid) TO PUBLIC;
