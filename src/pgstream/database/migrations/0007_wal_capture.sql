-- Record which sources are captured from the WAL, and how far it has been decoded.

ALTER TABLE pgstream.pgs_change_tracking
    ADD COLUMN wal_since pg_lsn,  -- rows behind it are in the WAL, NULL: triggers capture
    ADD COLUMN wal_membership oid;  -- of the row of pg_publication_rel that publishes it since

-- One row while there is a replication slot.
CREATE TABLE pgstream.pgs_wal (
    slot_name        text NOT NULL,
    publication_name text NOT NULL,
    decoded_lsn      pg_lsn NOT NULL  -- what was committed before it is in the buffers
);

REVOKE ALL ON pgstream.pgs_wal FROM PUBLIC;
GRANT SELECT ON pgstream.pgs_wal TO PUBLIC;
