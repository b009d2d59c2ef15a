-- Event trigger: a relation, or a column of one, was dropped.
CREATE OR REPLACE FUNCTION pgstream._on_sql_drop() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pgstream._notice_ddl(ARRAY(
        SELECT objid FROM pg_event_trigger_dropped_objects()
         WHERE classid = 'pg_class'::regclass));
END
$$;

REVOKE ALL ON FUNCTION pgstream._on_sql_drop() FROM PUBLIC;
