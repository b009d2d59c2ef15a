-- Triggers take over from the WAL for each table that may no longer be published, at once: until
-- then its own writes fail. One that somebody uses for long is left to the next call.
CREATE OR REPLACE FUNCTION pgstream._leave_publication() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '500ms' AS $$
DECLARE
    source record;
BEGIN
    FOR source IN
        SELECT t.source_relid AS relid, u.problem
          FROM pgstream.pgs_change_tracking t
         CROSS JOIN LATERAL pgstream._unpublishable(t.source_relid) u
         WHERE t.wal_since IS NOT NULL AND u.problem IS NOT NULL
         ORDER BY t.source_relid
    LOOP
        BEGIN
            PERFORM pgstream._fall_back_to_triggers(
                source.relid,
                format('of %s, %s', pgstream._relation_name(source.relid), source.problem));
        EXCEPTION WHEN lock_not_available THEN
            NULL;
        END;
    END LOOP;
END
$$;

REVOKE ALL ON FUNCTION pgstream._leave_publication() FROM PUBLIC;
