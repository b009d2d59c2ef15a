-- From here on the WAL tells the changes of a source, and triggers do not.
--
-- The lock decides who tells what. Writers keep theirs to the end of their transaction: each that
-- has written before has ended, and triggers have told it all; each that writes from now on writes
-- behind this LSN. It is the strongest lock from the start, for a weaker one would have to grow,
-- and could then deadlock with somebody who reads and then writes.
CREATE OR REPLACE FUNCTION pgstream._switch_to_wal(p_relid oid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE', pgstream._relation_name(p_relid));
    PERFORM pgstream._lock_source(p_relid);
    IF NOT EXISTS (SELECT FROM pgstream.pgs_change_tracking WHERE source_relid = p_relid) THEN
        RETURN;  -- its last reader has gone meanwhile
    END IF;
    IF pgstream._membership(p_relid) IS NULL THEN
        EXECUTE format('ALTER PUBLICATION %I ADD TABLE ONLY %s', pgstream._publication_name(),
                       pgstream._relation_name(p_relid));
    END IF;
    UPDATE pgstream.pgs_change_tracking
       SET wal_since = pg_current_wal_insert_lsn(), slot_name = pgstream._slot_name(),
           wal_membership = pgstream._membership(p_relid)
     WHERE source_relid = p_relid;
    PERFORM pgstream._drop_triggers(p_relid);
    PERFORM pgstream._set_cdc_mode(p_relid, 'WAL', 'transition_complete');
END
$$;

REVOKE ALL ON FUNCTION pgstream._switch_to_wal(oid) FROM PUBLIC;
