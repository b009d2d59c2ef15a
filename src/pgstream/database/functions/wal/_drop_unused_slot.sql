-- Drop the replication slot that no source needs any more: it keeps the server's WAL. Dropping
-- cannot be undone; if the transaction is rolled back, the next refresh finds the slot gone.
CREATE OR REPLACE FUNCTION pgstream._drop_unused_slot() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    slot text;
BEGIN
    IF NOT EXISTS (SELECT FROM pgstream.pgs_wal)
       OR EXISTS (SELECT FROM pgstream.pgs_change_tracking WHERE wal_since IS NOT NULL)
       OR EXISTS (SELECT FROM pgstream.pgs_dependencies d
                    JOIN pgstream.pgs_change_tracking t USING (source_relid)
                   WHERE d.cdc_mode = 'TRANSITIONING')
       OR NOT pg_try_advisory_xact_lock(pgstream._wal_lock(), 1) THEN
        RETURN;
    END IF;
    SELECT s.slot_name INTO slot
      FROM pgstream.pgs_wal w JOIN pg_replication_slots s USING (slot_name)
     WHERE s.database = current_database();
    IF slot IS NOT NULL THEN
        PERFORM pg_drop_replication_slot(slot);
    END IF;
    DELETE FROM pgstream.pgs_wal;
EXCEPTION WHEN object_in_use OR insufficient_privilege THEN
    -- The next refresh tries again.
    RAISE WARNING 'the replication slot % is not dropped yet: %', slot, SQLERRM;
END
$$;

REVOKE ALL ON FUNCTION pgstream._drop_unused_slot() FROM PUBLIC;
