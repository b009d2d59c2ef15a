-- Let a stream table read what its query names now, with capture installed again. Its creator must
-- have the rights that creation asks for. The next refresh starts from scratch.
CREATE OR REPLACE FUNCTION pgstream._reconnect(p_id bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    st pgstream.pgs_stream_tables;
BEGIN
    SELECT * INTO st FROM pgstream.pgs_stream_tables WHERE pgs_id = p_id;
    IF to_regclass(format('%I.%I', st.pgs_schema, st.pgs_name)) IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PS011',
            MESSAGE = format('the table %I.%I is gone', st.pgs_schema, st.pgs_name),
            HINT = 'Drop the stream table and create it again.';
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = st.owner_role) THEN
        RAISE EXCEPTION USING ERRCODE = 'PS009',
            MESSAGE = format('there is no role %I, which created %I.%I', st.owner_role,
                             st.pgs_schema, st.pgs_name),
            HINT = format('CREATE ROLE %I, then repair again.', st.owner_role);
    END IF;
    PERFORM pgstream._reread(p_id);
    PERFORM pgstream._save_shapes(p_id);
    UPDATE pgstream.pgs_stream_tables
       SET frontier = NULL, needs_reinit = is_populated, reinit_reason = 'it was repaired',
           status = CASE WHEN status <> 'ERROR' THEN status
                         WHEN is_populated THEN 'ACTIVE' ELSE 'INITIALIZING' END,
           consecutive_errors = 0, last_error = NULL, updated_at = now()
     WHERE pgs_id = p_id;
END
$$;

REVOKE ALL ON FUNCTION pgstream._reconnect(bigint) FROM PUBLIC;
