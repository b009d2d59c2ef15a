-- Would a trigger on a stream table make its refresh fail?
CREATE OR REPLACE FUNCTION pgstream._check_user_triggers(
    OUT severity text, OUT subject text, OUT message text, OUT hint text)
RETURNS SETOF record
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    st record;
BEGIN
    FOR st IN SELECT pgs_relid FROM pgstream.pgs_stream_tables
               WHERE coalesce(current_setting('pg_stream.user_triggers', true), '') <> 'off'
                 AND EXISTS (SELECT FROM pgstream._user_triggers(pgs_relid)) ORDER BY pgs_id LOOP
        BEGIN
            PERFORM pgstream._require_allowed_triggers(st.pgs_relid);
        EXCEPTION WHEN SQLSTATE 'PS009' OR SQLSTATE 'PS031' THEN
            GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
            severity := 'error';
            subject := pgstream._relation_name(st.pgs_relid);
            RETURN NEXT;
        END;
    END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._check_user_triggers() TO PUBLIC;
