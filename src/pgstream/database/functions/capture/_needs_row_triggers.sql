-- Whether the changes of a relation are captured row by row. Statement triggers with transition
-- tables are the fast way. They see only statements that name their table, so a table that is
-- written through a parent, and a partitioned table, which is written through its partitions, need
-- row triggers.
CREATE OR REPLACE FUNCTION pgstream._needs_row_triggers(p_relid oid) RETURNS bool
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT relkind = 'p' OR EXISTS (SELECT FROM pg_inherits WHERE inhrelid = p_relid)
      FROM pg_class WHERE oid = p_relid
$$;

GRANT EXECUTE ON FUNCTION pgstream._needs_row_triggers(oid) TO PUBLIC;
