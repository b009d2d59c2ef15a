-- The sources that are captured from the WAL, with their captured columns. `types` are those of the
-- source's columns; `trouble` is why the WAL does not tell all of it, NULL if it does.
CREATE OR REPLACE FUNCTION pgstream._wal_sources(
    OUT relid oid, OUT buffer_schema name, OUT since pg_lsn, OUT columns text[], OUT types oid[],
    OUT trouble text)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT t.source_relid,
           t.buffer_schema,
           t.wal_since,
           coalesce(array_agg(c.name ORDER BY c.number) FILTER (WHERE c.name IS NOT NULL), '{}'),
           coalesce(array_agg(s.atttypid ORDER BY c.number) FILTER (WHERE c.name IS NOT NULL), '{}'),
           CASE WHEN NOT EXISTS (SELECT FROM pg_class WHERE oid = t.source_relid) THEN NULL
                WHEN NOT pgstream._is_published_whole(t.source_relid)
                THEN format('%s is no longer published, or was not for a while',
                            pgstream._relation_name(t.source_relid))
                WHEN EXISTS (SELECT FROM pg_inherits WHERE inhparent = t.source_relid)
                THEN format('%s has got inheritance children',
                            pgstream._relation_name(t.source_relid))
                WHEN (SELECT problem FROM pgstream._unpublishable(t.source_relid)) IS NOT NULL
                THEN format('of %s, %s', pgstream._relation_name(t.source_relid),
                            (SELECT problem FROM pgstream._unpublishable(t.source_relid)))
                WHEN pgstream._wal_strange_column(t.source_relid) IS NOT NULL
                THEN format('of %s, %s', pgstream._relation_name(t.source_relid),
                            pgstream._wal_strange_column(t.source_relid))
                WHEN NOT bool_and(coalesce(pgstream._stored_type(s.atttypid) = c.type, false))
                     FILTER (WHERE c.name IS NOT NULL)
                THEN format('the columns of %s have changed',
                            pgstream._relation_name(t.source_relid)) END
      FROM pgstream.pgs_change_tracking t
      LEFT JOIN LATERAL ROWS FROM (jsonb_to_recordset(t.columns) AS (name text, type text))
                WITH ORDINALITY c(name, type, number) ON true
      LEFT JOIN pg_attribute s
             ON s.attrelid = t.source_relid AND s.attname = c.name
            AND s.attnum > 0 AND NOT s.attisdropped
     WHERE t.wal_since IS NOT NULL
     GROUP BY t.source_relid
$$;

REVOKE ALL ON FUNCTION pgstream._wal_sources() FROM PUBLIC;
