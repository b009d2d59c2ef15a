-- The functions that a trigger calls: its own, and those of its WHEN, by name or behind operators.
CREATE OR REPLACE FUNCTION pgstream._trigger_functions(p_trigger oid) RETURNS SETOF oid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT tgfoid FROM pg_trigger WHERE oid = p_trigger
    UNION
    SELECT coalesce(o.oprcode::oid, d.refobjid)
      FROM pg_depend d
      LEFT JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
     WHERE d.classid = 'pg_trigger'::regclass AND d.objid = p_trigger
       AND d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
$$;

GRANT EXECUTE ON FUNCTION pgstream._trigger_functions(oid) TO PUBLIC;
