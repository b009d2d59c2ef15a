-- The class of the lock of a source whose capture is being changed: exclusive, of the transaction.
CREATE OR REPLACE FUNCTION pgstream._source_lock() RETURNS int LANGUAGE sql IMMUTABLE
    AS 'SELECT 1885827076';

GRANT EXECUTE ON FUNCTION pgstream._source_lock() TO PUBLIC;
