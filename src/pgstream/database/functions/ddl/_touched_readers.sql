-- The stream tables that read one of these relations or one above it, of which it is a partition
-- or child.
CREATE OR REPLACE FUNCTION pgstream._touched_readers(p_relids oid[]) RETURNS bigint[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE touched(relid) AS (
        SELECT unnest(p_relids)
        UNION
        SELECT i.inhparent FROM touched JOIN pg_inherits i ON i.inhrelid = touched.relid)
    SELECT ARRAY(SELECT DISTINCT d.pgs_id FROM pgstream.pgs_dependencies d
                  WHERE d.source_relid IN (SELECT relid FROM touched))
$$;

GRANT EXECUTE ON FUNCTION pgstream._touched_readers(oid[]) TO PUBLIC;
