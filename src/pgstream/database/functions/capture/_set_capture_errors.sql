-- Say what happens if the buffer of a source cannot be written: 'fail' or 'mark'.
CREATE OR REPLACE FUNCTION pgstream._set_capture_errors(p_relid oid, p_mode text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pgstream._lock_source(p_relid);
    UPDATE pgstream.pgs_change_tracking SET capture_errors = p_mode WHERE source_relid = p_relid;
    IF to_regproc(pgstream._capture_function_name(p_relid)) IS NOT NULL THEN
        PERFORM pgstream._create_capture_function(p_relid);
    END IF;
END
$$;

REVOKE ALL ON FUNCTION pgstream._set_capture_errors(oid, text) FROM PUBLIC;
