-- The partitions or inheritance children below a table, to any depth; not the table itself.
CREATE OR REPLACE FUNCTION pgstream._members(p_relid oid) RETURNS SETOF oid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE below(relid) AS (
        SELECT inhrelid FROM pg_inherits WHERE inhparent = p_relid
        UNION
        SELECT i.inhrelid FROM below JOIN pg_inherits i ON i.inhparent = below.relid)
    SELECT relid FROM below
$$;

GRANT EXECUTE ON FUNCTION pgstream._members(oid) TO PUBLIC;
