-- Remove the capture of sources that are gone, or whose buffer is, or of all: their numbers are in
-- all its names.
CREATE OR REPLACE FUNCTION pgstream._forget_capture(p_all bool) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    source oid;
BEGIN
    FOR source IN
        SELECT source_relid FROM pgstream.pgs_change_tracking
        UNION
        SELECT substring(c.relname FROM '^changes_(\d+)$')::oid FROM pg_class c
          JOIN pg_namespace n ON n.oid = c.relnamespace
          JOIN pgstream.pgs_buffer_schemas s ON s.schema_name = n.nspname
         WHERE c.relname ~ '^changes_\d+$' AND c.relkind = 'r'
        ORDER BY 1
    LOOP
        IF p_all OR NOT EXISTS (SELECT FROM pg_class WHERE oid = source)
           OR to_regclass(pgstream._buffer_name(source)) IS NULL THEN
            PERFORM pgstream._remove_capture(source);
        END IF;
    END LOOP;
END
$$;

REVOKE ALL ON FUNCTION pgstream._forget_capture(boolean) FROM PUBLIC;
