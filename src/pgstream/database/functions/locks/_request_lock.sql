-- The class of the lock by which somebody asks for a refresh: shared, of the session.
CREATE OR REPLACE FUNCTION pgstream._request_lock() RETURNS int LANGUAGE sql IMMUTABLE
    AS 'SELECT 1885827075';

GRANT EXECUTE ON FUNCTION pgstream._request_lock() TO PUBLIC;
