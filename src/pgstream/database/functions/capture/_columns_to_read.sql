-- The columns of a written row that a capture function reads: the captured ones, and those from
-- which captured virtual columns are computed.
CREATE OR REPLACE FUNCTION pgstream._columns_to_read(p_relid oid, OUT name name, OUT type oid)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH captured AS (
        SELECT a.attnum, a.attname, a.attgenerated
          FROM pgstream._captured_columns(p_relid) c
          JOIN pg_attribute a ON a.attrelid = p_relid AND a.attname = c.name),
    numbers(attnum) AS (
        SELECT attnum FROM captured WHERE attgenerated <> 'v'
        UNION
        SELECT p.refobjsubid
          FROM captured c
          JOIN pg_attrdef d ON d.adrelid = p_relid AND d.adnum = c.attnum
          JOIN pg_depend p ON p.classid = 'pg_attrdef'::regclass AND p.objid = d.oid
           AND p.refclassid = 'pg_class'::regclass AND p.refobjid = p_relid
         WHERE c.attgenerated = 'v' AND p.refobjsubid <> c.attnum)
    SELECT a.attname, a.atttypid
      FROM numbers JOIN pg_attribute a ON a.attrelid = p_relid AND a.attnum = numbers.attnum
     ORDER BY a.attnum
$$;

GRANT EXECUTE ON FUNCTION pgstream._columns_to_read(oid) TO PUBLIC;
