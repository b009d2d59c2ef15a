-- Wait until a new stream table is populated.
CREATE OR REPLACE FUNCTION pgstream.wait_for_stream_table(
    name text, timeout interval DEFAULT '60 seconds')
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    id bigint := pgstream._resolve(name);
    deadline timestamptz := clock_timestamp() + timeout;
    st pgstream.pgs_stream_tables;
BEGIN
    PERFORM pgstream._require_waitable(id);
    LOOP
        SELECT * INTO st FROM pgstream.pgs_stream_tables t WHERE t.pgs_id = id;
        IF NOT FOUND THEN
            PERFORM pgstream._resolve(name);
        END IF;
        IF st.is_populated THEN
            RETURN;
        END IF;
        IF st.status = 'ERROR' OR st.last_error IS NOT NULL THEN
            RAISE EXCEPTION USING ERRCODE = 'PS016',
                MESSAGE = format('stream table %I.%I cannot be built: %s', st.pgs_schema,
                                 st.pgs_name, coalesce(st.last_error, 'see its refresh history')),
                HINT = pgstream._build_hint(st.pgs_schema, st.pgs_name);
        END IF;
        PERFORM pgstream._require_not_suspended(id);
        PERFORM pgstream._require_worker();
        IF clock_timestamp() >= deadline THEN
            RAISE EXCEPTION USING ERRCODE = 'PS014',
                MESSAGE = format('stream table %I.%I is not populated after %s',
                                 st.pgs_schema, st.pgs_name, timeout),
                HINT = 'The worker may still be at it. Wait again, or look at '
                       'pgstream.get_refresh_history().';
        END IF;
        PERFORM pg_sleep(0.05);
    END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream.wait_for_stream_table(text, interval) TO PUBLIC;
