-- Remember when a transition to the WAL is tried again.

ALTER TABLE pgstream.pgs_change_tracking
    ADD COLUMN wal_next_attempt timestamptz;  -- not before; NULL: at any time
