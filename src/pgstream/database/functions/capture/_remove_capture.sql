-- Remove the capture of a source, which may be gone already. Dropping the function drops its
-- triggers too; DROP TRIGGER would need a right of the table's owner.
CREATE OR REPLACE FUNCTION pgstream._remove_capture(relid oid) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
DECLARE
    source oid := relid;
    nsp name;
BEGIN
    PERFORM pgstream._lock_source(source);
    PERFORM pgstream._unpublish(source, 'capture_removed', NULL);
    FOR nsp IN SELECT schema_name FROM pgstream.pgs_buffer_schemas LOOP
        EXECUTE format('DROP FUNCTION IF EXISTS %I.capture_%s() CASCADE', nsp, source);
        EXECUTE format('DROP TABLE IF EXISTS %I.changes_%s CASCADE', nsp, source);
    END LOOP;
    DELETE FROM pgstream.pgs_change_tracking WHERE source_relid = source;
    DELETE FROM pgstream.pgs_capture_failures WHERE source_relid = source;
END
$$;

REVOKE ALL ON FUNCTION pgstream._remove_capture(oid) FROM PUBLIC;
