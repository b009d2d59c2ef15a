-- CURRENT_DATE and similar, by the names that users write.
CREATE OR REPLACE FUNCTION pgstream._value_functions(p_view oid) RETURNS SETOF text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT DISTINCT (ARRAY['CURRENT_DATE', 'CURRENT_TIME', 'CURRENT_TIME', 'CURRENT_TIMESTAMP',
                           'CURRENT_TIMESTAMP', 'LOCALTIME', 'LOCALTIME', 'LOCALTIMESTAMP',
                           'LOCALTIMESTAMP', 'CURRENT_ROLE', 'CURRENT_USER', 'USER',
                           'SESSION_USER', 'CURRENT_CATALOG', 'CURRENT_SCHEMA'])[m[1]::int + 1]
      FROM pgstream._trees(p_view) tree,
           regexp_matches(tree, '\{SQLVALUEFUNCTION :op (\d+)', 'g') m
$$;

GRANT EXECUTE ON FUNCTION pgstream._value_functions(oid) TO PUBLIC;
