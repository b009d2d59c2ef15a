-- The functions that a view and the views below it use, by name or behind an operator.
CREATE OR REPLACE FUNCTION pgstream._functions(p_view oid, OUT fn oid, OUT by_name bool)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT m[1]::oid, true
      FROM pgstream._trees(p_view) tree,
           regexp_matches(tree, ':(?:funcid|aggfnoid|winfnoid) (\d+)', 'g') m
     WHERE m[1] <> '0'
    UNION
    SELECT o.oprcode::oid, false
      FROM pgstream._trees(p_view) tree, regexp_matches(tree, ':opno (\d+)', 'g') m
      JOIN pg_operator o ON o.oid = m[1]::oid
$$;

GRANT EXECUTE ON FUNCTION pgstream._functions(oid) TO PUBLIC;
