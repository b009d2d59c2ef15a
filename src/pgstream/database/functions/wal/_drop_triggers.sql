-- Drop the capture triggers of a source; their function stays, to be used again.
CREATE OR REPLACE FUNCTION pgstream._drop_triggers(p_relid oid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    trigger_name name;
BEGIN
    FOR trigger_name IN
        SELECT tgname FROM pg_trigger
         WHERE tgrelid = p_relid AND NOT tgisinternal
           AND tgfoid = to_regproc(pgstream._capture_function_name(p_relid))
    LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', trigger_name, pgstream._relation_name(p_relid));
    END LOOP;
END
$$;

REVOKE ALL ON FUNCTION pgstream._drop_triggers(oid) FROM PUBLIC;
