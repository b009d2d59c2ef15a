-- The predicate of a seal: fails if the stream table could not be built, else it is false, so
-- that the index has no rows. Called immutable for PostgreSQL to evaluate it when it plans.
--
-- Our own sessions may read, and so may ANALYZE, VACUUM FULL and REINDEX, which would else fail
-- for the whole database.
CREATE OR REPLACE FUNCTION pgstream._require_built(p_id bigint) RETURNS bool
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    st pgstream.pgs_stream_tables;
BEGIN
    SELECT * INTO st FROM pgstream.pgs_stream_tables
     WHERE pgs_id = p_id AND NOT is_populated AND last_error IS NOT NULL;
    IF st.pgs_id IS NULL
       OR current_setting('pg_stream.reads_unbuilt', true) = 'on'
       OR EXISTS (SELECT FROM unnest(ARRAY['ANALYZE', 'VACUUM', 'CLUSTER', 'CREATE INDEX']) work,
                              pg_stat_get_progress_info(work) p WHERE p.pid = pg_backend_pid()) THEN
        RETURN false;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'PS022',
        MESSAGE = format('stream table %I.%I was never populated: it could not be built',
                         st.pgs_schema, st.pgs_name),
        DETAIL = st.last_error,
        HINT = pgstream._build_hint(st.pgs_schema, st.pgs_name);
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._require_built(bigint) TO PUBLIC;
