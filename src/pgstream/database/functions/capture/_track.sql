-- Capture every source of a stream table.
CREATE OR REPLACE FUNCTION pgstream._track(p_id bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    source oid;
BEGIN
    -- In one order, so that two sessions do not wait for each other.
    FOR source IN SELECT source_relid FROM pgstream.pgs_dependencies
                   WHERE pgs_id = p_id AND source_type <> 'VIEW' ORDER BY source_relid LOOP
        PERFORM pgstream._install_capture(source, p_id);
        PERFORM pgstream._mirror_cdc_mode(source);
    END LOOP;
END
$$;

REVOKE ALL ON FUNCTION pgstream._track(bigint) FROM PUBLIC;
