-- The class of the lock that every worker holds while it is alive: shared, of the session. The
-- second key of a class is pgs_id; here it is 0.
CREATE OR REPLACE FUNCTION pgstream._worker_lock() RETURNS int LANGUAGE sql IMMUTABLE
    AS 'SELECT 1885827073';

GRANT EXECUTE ON FUNCTION pgstream._worker_lock() TO PUBLIC;
