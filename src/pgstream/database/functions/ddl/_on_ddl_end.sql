-- Event trigger: a relation was altered, or a view replaced.
CREATE OR REPLACE FUNCTION pgstream._on_ddl_end() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pgstream._notice_ddl(ARRAY(
        SELECT objid FROM pg_event_trigger_ddl_commands() WHERE classid = 'pg_class'::regclass));
END
$$;

REVOKE ALL ON FUNCTION pgstream._on_ddl_end() FROM PUBLIC;
