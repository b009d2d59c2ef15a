-- Fail if the stream table is suspended.
CREATE OR REPLACE FUNCTION pgstream._require_not_suspended(p_id bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    st pgstream.pgs_stream_tables;
BEGIN
    SELECT * INTO st FROM pgstream.pgs_stream_tables WHERE pgs_id = p_id;
    IF st.status = 'SUSPENDED' THEN
        RAISE EXCEPTION USING ERRCODE = 'PS012',
            MESSAGE = format('stream table %I.%I is suspended', st.pgs_schema, st.pgs_name),
            HINT = format('SELECT pgstream.alter_stream_table(%L, status => ''ACTIVE'')',
                          format('%I.%I', st.pgs_schema, st.pgs_name));
    END IF;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._require_not_suspended(bigint) TO PUBLIC;
