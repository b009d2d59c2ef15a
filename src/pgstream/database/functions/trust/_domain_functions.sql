-- The functions that check the values of a domain, by name or behind an operator.
CREATE OR REPLACE FUNCTION pgstream._domain_functions(p_type oid) RETURNS SETOF oid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(o.oprcode::oid, d.refobjid)
      FROM pg_constraint c
      JOIN pg_depend d ON d.classid = 'pg_constraint'::regclass AND d.objid = c.oid
       AND d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
      LEFT JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
     WHERE c.contypid = p_type
$$;

GRANT EXECUTE ON FUNCTION pgstream._domain_functions(oid) TO PUBLIC;
