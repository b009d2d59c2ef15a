-- The columns of a source that its buffer has: those that a stream table reads; all, if nobody has
-- told what they read, and those of a stream table, whose buffer the worker fills.
CREATE OR REPLACE FUNCTION pgstream._captured_columns(
    p_relid oid, OUT name name, OUT type text, OUT definition text, OUT value text)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH readers(id) AS (
        SELECT unnest(tracked_by_pgs_ids) FROM pgstream.pgs_change_tracking
         WHERE source_relid = p_relid),
    used(name) AS (
        SELECT unnest(d.columns_used)
          FROM pgstream.pgs_dependencies d JOIN readers r ON r.id = d.pgs_id
         WHERE d.source_relid = p_relid)
    SELECT c.*
      FROM pgstream._source_columns(p_relid) c
     WHERE c.name::text IN (SELECT u.name FROM used u)
        OR NOT EXISTS (SELECT FROM readers)
        OR EXISTS (SELECT FROM pgstream.pgs_stream_tables WHERE pgs_relid = p_relid)
$$;

GRANT EXECUTE ON FUNCTION pgstream._captured_columns(oid) TO PUBLIC;
