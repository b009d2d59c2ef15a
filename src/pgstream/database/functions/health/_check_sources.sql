-- Do the tables of the stream tables, and all that they read, still exist?
CREATE OR REPLACE FUNCTION pgstream._check_sources(
    OUT severity text, OUT subject text, OUT message text, OUT hint text)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'error', format('%I.%I', st.pgs_schema, st.pgs_name), gone.what,
           format('If it was renumbered by a restore: pgstream repair. Else: '
                  'SELECT pgstream.drop_stream_table(%L)',
                  format('%I.%I', st.pgs_schema, st.pgs_name))
      FROM pgstream.pgs_stream_tables st
     CROSS JOIN LATERAL (
        SELECT 'its own table is gone'
         WHERE NOT EXISTS (SELECT FROM pg_class WHERE oid = st.pgs_relid)
        UNION ALL
        SELECT format('a table that it reads is gone (oid %s)', d.source_relid)
          FROM pgstream.pgs_dependencies d
         WHERE d.pgs_id = st.pgs_id AND d.source_type <> 'VIEW'
           AND NOT EXISTS (SELECT FROM pg_class WHERE oid = d.source_relid)) gone(what)
     ORDER BY st.pgs_id
$$;

GRANT EXECUTE ON FUNCTION pgstream._check_sources() TO PUBLIC;
