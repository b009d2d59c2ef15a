-- The definitions of all stream tables as JSON, those that others read first. restore_config makes
-- them again. The same definitions give the same text in every database.
CREATE OR REPLACE FUNCTION pgstream.dump_config() RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT jsonb_pretty(jsonb_build_object(
        'version', 1,
        'stream_tables', coalesce(jsonb_agg(
            jsonb_build_object(
                'name', format('%I.%I', st.pgs_schema, st.pgs_name),
                'owner', st.owner_role,
                'query', coalesce(st.query_with_views, st.defining_query),
                'original_query', st.original_query,
                'schedule', coalesce(st.schedule, 'CALCULATED'),
                'refresh_mode', st.refresh_mode,
                'initialize', st.is_populated OR st.status <> 'ACTIVE',
                'suspended', st.status = 'SUSPENDED')
            ORDER BY l.layer, st.pgs_schema, st.pgs_name), '[]')))
      FROM pgstream.pgs_stream_tables st
      JOIN pgstream._layers() l ON l.pgs_id = st.pgs_id
$$;

GRANT EXECUTE ON FUNCTION pgstream.dump_config() TO PUBLIC;
