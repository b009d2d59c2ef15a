-- Create or replace the trigger function that fills the buffer of a source, unless it is as it
-- should be. If its errors are to be marked, it has a handler for whatever fails: each statement of
-- a writer is a subtransaction then.
CREATE OR REPLACE FUNCTION pgstream._create_capture_function(p_relid oid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    function text := pgstream._capture_function_name(p_relid);
    body text := CASE WHEN pgstream._needs_row_triggers(p_relid)
                      THEN pgstream._row_capture(p_relid)
                      ELSE pgstream._statement_capture(p_relid) END;
BEGIN
    IF EXISTS (SELECT FROM pgstream.pgs_change_tracking
                WHERE source_relid = p_relid AND capture_errors = 'mark') THEN
        body := format(E'\nBEGIN%s;\nEXCEPTION WHEN OTHERS THEN\n'
                       '    PERFORM pgstream._note_capture_failure(%s, SQLERRM);\n'
                       '    RETURN NULL;\nEND\n', rtrim(body, E'\n'), p_relid);
    END IF;
    body := E'\n#variable_conflict use_column' || body;
    IF body = (SELECT prosrc FROM pg_proc
                WHERE oid = to_regproc(function)) THEN
        RETURN;
    END IF;
    EXECUTE format(
        'CREATE OR REPLACE FUNCTION %s() RETURNS trigger '
        'LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS %L',
        function, body);
    EXECUTE format('REVOKE ALL ON FUNCTION %s() FROM PUBLIC', function);
END
$$;

REVOKE ALL ON FUNCTION pgstream._create_capture_function(oid) FROM PUBLIC;
