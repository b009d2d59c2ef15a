-- Wait for the outcome of a refresh that began after p_since.
CREATE OR REPLACE FUNCTION pgstream._await_refresh(p_id bigint, p_name text, p_since timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    outcome record;
    st pgstream.pgs_stream_tables;
    worker_lives bool;
BEGIN
    FOR look IN 0 .. 2147483647 LOOP
        -- Look at the worker first: it may answer and leave between two looks.
        worker_lives := look % 10 <> 0 OR pgstream._worker_alive();
        SELECT status, error_message INTO outcome
          FROM pgstream.pgs_refresh_history
         WHERE pgs_id = p_id AND start_time >= p_since AND status IN ('COMPLETED', 'FAILED')
         ORDER BY refresh_id LIMIT 1;
        IF outcome.status = 'COMPLETED' THEN
            RETURN;
        ELSIF outcome.status = 'FAILED' THEN
            SELECT * INTO st FROM pgstream.pgs_stream_tables WHERE pgs_id = p_id;
            RAISE EXCEPTION USING ERRCODE = 'PS016',
                MESSAGE = format('refresh of %s failed: %s', p_name, outcome.error_message),
                DETAIL = CASE WHEN st.is_populated THEN '' ELSE 'It was never populated.' END,
                HINT = CASE WHEN st.is_populated THEN ''
                            ELSE pgstream._build_hint(st.pgs_schema, st.pgs_name) END;
        END IF;
        IF NOT worker_lives THEN
            PERFORM pgstream._require_worker();
        END IF;
        PERFORM pgstream._resolve(p_name);
        PERFORM pg_sleep(0.01);
    END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._await_refresh(bigint, text, timestamp with time zone) TO PUBLIC;
