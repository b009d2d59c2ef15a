-- The class of the lock of a refresh or a drop under way: exclusive, of the transaction.
CREATE OR REPLACE FUNCTION pgstream._refresh_lock() RETURNS int LANGUAGE sql IMMUTABLE
    AS 'SELECT 1885827074';

GRANT EXECUTE ON FUNCTION pgstream._refresh_lock() TO PUBLIC;
