-- The way round, if one of the sources depends on p_relid: 'a -> b -> a'; else NULL.
CREATE OR REPLACE FUNCTION pgstream._cycle_path(p_relid oid, p_sources oid[]) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE walk(relid, path) AS (
        SELECT s, ARRAY[p_relid, s] FROM unnest(p_sources) s
        UNION ALL
        SELECT d.source_relid, w.path || d.source_relid
          FROM walk w
          JOIN pgstream.pgs_stream_tables t ON t.pgs_relid = w.relid
          JOIN pgstream.pgs_dependencies d ON d.pgs_id = t.pgs_id
         WHERE w.relid <> p_relid AND NOT d.source_relid = ANY (w.path[2:]))
    SELECT (SELECT string_agg(pgstream._relation_name(r), ' -> ' ORDER BY i)
              FROM unnest(w.path) WITH ORDINALITY u(r, i))
      FROM walk w WHERE w.relid = p_relid ORDER BY cardinality(w.path) LIMIT 1
$$;

GRANT EXECUTE ON FUNCTION pgstream._cycle_path(oid, oid[]) TO PUBLIC;
