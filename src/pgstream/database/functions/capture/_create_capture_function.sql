-- Create or replace the trigger function that fills the buffer of a source, unless it is as it
-- should be. If its errors are to be marked, it has a handler for whatever fails: each statement of a writer is a subtransaction then.
CREATE OR REPLACE FUNCTION pgstream._create_capture_function(p_relid oid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
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
                WHERE oid = to_regproc(format('pgstream_changes.capture_%s', p_relid))) THEN
        RETURN;
    END IF;
    EXECUTE format(
        'CREATE OR REPLACE FUNCTION pgstream_changes.capture_%s() RETURNS trigger '
        'LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS %L',
        p_relid, body);
    EXECUTE format('REVOKE ALL ON FUNCTION pgstream_changes.capture_%s() FROM PUBLIC', p_relid);
END
$$;

REVOKE ALL ON FUNCTION pgstream._create_capture_function(oid) FROM PUBLIC;
