-- The class of the locks of the replication slot, exclusive: 0 reads it, of the session; 1 makes or
-- drops it, of the session or the transaction.
CREATE OR REPLACE FUNCTION pgstream._wal_lock() RETURNS int LANGUAGE sql IMMUTABLE
    AS 'SELECT 1885827080';

GRANT EXECUTE ON FUNCTION pgstream._wal_lock() TO PUBLIC;
