-- A captured column whose text in the WAL cannot be read back, and why; NULL if there is none.
--
-- The text of a regclass is a name, which may mean another table by now. A domain inside of an
-- array or a composite type is checked when the text is read: by functions of its owner, with our
-- rights.
CREATE OR REPLACE FUNCTION pgstream._wal_strange_column(p_relid oid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format(CASE t.typtype
                      WHEN 'd' THEN 'its column %s of type %s has a domain inside, whose checks '
                                    'would run when it is read from the WAL'
                      ELSE 'its column %s of type %s is a name in the WAL, which may mean '
                           'something else when it is read' END,
                  a.attname, format_type(a.atttypid, a.atttypmod))
      FROM pgstream.pgs_change_tracking k
     CROSS JOIN LATERAL jsonb_array_elements(k.columns) c
      JOIN pg_attribute a ON a.attrelid = p_relid AND a.attname = c ->> 'name'
       AND a.attnum > 0 AND NOT a.attisdropped
     CROSS JOIN LATERAL pgstream._types_inside(to_regtype(pgstream._stored_type(a.atttypid))) i
      JOIN pg_type t ON t.oid = i
     WHERE k.source_relid = p_relid
       AND (t.typtype = 'd'
            OR t.oid < 16384 AND (t.typname LIKE 'reg%' OR t.typname = 'aclitem'))
     ORDER BY a.attnum LIMIT 1
$$;

GRANT EXECUTE ON FUNCTION pgstream._wal_strange_column(oid) TO PUBLIC;
