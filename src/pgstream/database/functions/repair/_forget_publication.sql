-- Take out of our publication what the WAL does not capture: a dump brings it along, and nobody
-- reads it here. Nobody needs the slot that the catalog names, unless some source does.
CREATE OR REPLACE FUNCTION pgstream._forget_publication() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    published oid;
BEGIN
    FOR published IN
        SELECT r.prrelid
          FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid
         WHERE p.pubname = pgstream._publication_name() AND NOT EXISTS (
               SELECT FROM pgstream.pgs_change_tracking t
                WHERE t.source_relid = r.prrelid AND t.wal_since IS NOT NULL)
         ORDER BY r.prrelid
    LOOP
        EXECUTE format('ALTER PUBLICATION %I DROP TABLE ONLY %s', pgstream._publication_name(),
                       pgstream._relation_name(published));
    END LOOP;
    PERFORM pgstream._drop_unused_slot();
END
$$;

REVOKE ALL ON FUNCTION pgstream._forget_publication() FROM PUBLIC;
