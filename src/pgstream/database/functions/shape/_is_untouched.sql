-- Whether a partition or child was created where it is and has never had a row: then nothing of it
-- can have been missed. Its columns are as old as the table.
CREATE OR REPLACE FUNCTION pgstream._is_untouched(p_relid oid) RETURNS bool
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT c.relkind = 'p'
        OR pg_relation_size(c.oid) = 0 AND pg_relation_filenode(c.oid) = c.oid
           AND NOT EXISTS (
                SELECT FROM pg_inherits i
                  JOIN pg_attribute a ON a.attrelid = i.inhrelid AND a.attnum = -1
                 WHERE i.inhrelid = p_relid AND i.xmin <> a.xmin)
      FROM pg_class c WHERE c.oid = p_relid
$$;

GRANT EXECUTE ON FUNCTION pgstream._is_untouched(oid) TO PUBLIC;
