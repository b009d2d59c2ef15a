-- Record what the query reads: its sources, and its views with their definitions.
CREATE OR REPLACE FUNCTION pgstream._add_dependencies(p_id bigint, p_view oid) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO pgstream.pgs_dependencies AS d (
        pgs_id, source_relid, source_type, columns_used, definition)
    SELECT p_id, s.relid,
           CASE WHEN EXISTS (SELECT FROM pgstream.pgs_stream_tables t WHERE t.pgs_relid = s.relid)
                THEN 'STREAM_TABLE'
                WHEN c.relkind = 'v' THEN 'VIEW'
                ELSE 'TABLE' END,
           s.columns,
           CASE c.relkind WHEN 'v' THEN pgstream._view_text(s.relid) END
      FROM pgstream._sources(p_view) s JOIN pg_class c ON c.oid = s.relid
    ON CONFLICT (pgs_id, source_relid) DO UPDATE
       SET columns_used = ARRAY(
               SELECT DISTINCT c FROM unnest(d.columns_used || EXCLUDED.columns_used) c ORDER BY c),
           definition = EXCLUDED.definition
$$;

REVOKE ALL ON FUNCTION pgstream._add_dependencies(bigint, oid) FROM PUBLIC;
