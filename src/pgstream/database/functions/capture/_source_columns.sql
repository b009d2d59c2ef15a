-- The live columns of a relation. `value` computes the column from a row called n: a virtual
-- generated column (PostgreSQL 18) is NULL in a transition table, so its expression stands for it.
CREATE OR REPLACE FUNCTION pgstream._source_columns(
    p_relid oid, OUT name name, OUT type text, OUT definition text, OUT value text)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT a.attname,
           s.type,
           format('%I %s', a.attname, s.type)
               || CASE WHEN a.attcollation NOT IN (0, t.typcollation)
                       THEN format(' COLLATE %I.%I', cn.nspname, co.collname) ELSE '' END,
           CASE WHEN a.attgenerated = 'v' THEN '(' || pg_get_expr(d.adbin, d.adrelid) || ')'
                ELSE format('n.%I', a.attname) END
      FROM pg_attribute a
      JOIN pg_type t ON t.oid = a.atttypid
      LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      LEFT JOIN pg_collation co ON co.oid = a.attcollation
      LEFT JOIN pg_namespace cn ON cn.oid = co.collnamespace
     CROSS JOIN LATERAL pgstream._stored_type(a.atttypid) s(type)
     WHERE a.attrelid = p_relid AND a.attnum > 0 AND NOT a.attisdropped
     ORDER BY a.attnum
$$;

GRANT EXECUTE ON FUNCTION pgstream._source_columns(oid) TO PUBLIC;
