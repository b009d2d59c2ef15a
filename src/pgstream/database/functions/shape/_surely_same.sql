-- Those of these stream tables whose sources are certainly as the last refresh saw them: ordinary
-- tables and stream tables, with types of PostgreSQL's own. This takes a fraction of the time of
-- _changed_shapes, which knows about the others. What else is captured of a source is not asked:
-- rows of another shape leave a mark in its buffer.
CREATE OR REPLACE FUNCTION pgstream._surely_same(p_ids bigint[]) RETURNS bigint[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN ARRAY(
        SELECT t.pgs_id
          FROM pgstream.pgs_stream_tables t
         WHERE t.pgs_id = ANY (p_ids) AND t.objects_used = '{}' AND NOT EXISTS (
            SELECT FROM pgstream.pgs_dependencies d
              LEFT JOIN pg_class c ON c.oid = d.source_relid
              LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
             WHERE d.pgs_id = t.pgs_id AND (
                d.shape IS NULL OR c.relrowsecurity OR c.relhassubclass
                OR d.shape IS DISTINCT FROM jsonb_build_object(
                    'schema', n.nspname, 'name', c.relname, 'kind', 'r', 'captured', true,
                    'columns', (
                        SELECT jsonb_object_agg(a.attname, jsonb_build_array(
                                   a.attnum, a.atttypid::bigint, a.atttypmod,
                                   a.attcollation::bigint, NULL, NULL))
                          FROM pg_attribute a
                         WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                           AND a.attgenerated = '' AND a.atttypid < 16384
                           AND a.attname = ANY (d.columns_used)))
                OR NOT EXISTS (
                    SELECT FROM pgstream.pgs_change_tracking k
                     WHERE k.source_relid = c.oid
                       AND (d.source_type <> 'TABLE' OR 4 = (
                           SELECT count(*) FROM pg_trigger g
                            WHERE g.tgrelid = c.oid AND g.tgenabled IN ('O', 'A')
                              AND k.triggers ->> g.oid::text = g.xmin::text))
                       AND d.columns_used <@ ARRAY(
                           SELECT x ->> 'name' FROM jsonb_array_elements(k.columns) x)))));
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._surely_same(bigint[]) TO PUBLIC;
