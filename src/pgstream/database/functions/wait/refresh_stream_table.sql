-- Ask a worker for a refresh and wait for its outcome.
--
-- A request cannot be a row: the worker would not see it before its transaction ends. It is an
-- advisory lock, which everybody sees at once in pg_locks; the sequence tells workers to look
-- there. A transaction that is read-only cannot move it, and waits a little longer. The answer is a
-- row of pgs_refresh_history, which the worker commits and this transaction sees.
CREATE OR REPLACE FUNCTION pgstream.refresh_stream_table(name text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    id bigint := pgstream._resolve(name);
    since timestamptz;
BEGIN
    PERFORM pgstream._require_owner(id, current_user);
    PERFORM pgstream._require_not_suspended(id);
    PERFORM pgstream._require_waitable(id);
    PERFORM pgstream._require_worker();
    since := pg_catalog.clock_timestamp();
    PERFORM pg_catalog.pg_advisory_lock_shared(pgstream._request_lock(), id::int);
    BEGIN
        IF current_setting('transaction_read_only') = 'off' THEN
            PERFORM nextval('pgstream.pgs_requests');
        END IF;
        PERFORM pgstream._await_refresh(id, name, since);
    EXCEPTION WHEN OTHERS OR query_canceled THEN
        PERFORM pg_catalog.pg_advisory_unlock_shared(pgstream._request_lock(), id::int);
        RAISE;
    END;
    PERFORM pg_catalog.pg_advisory_unlock_shared(pgstream._request_lock(), id::int);
END
$$;

GRANT EXECUTE ON FUNCTION pgstream.refresh_stream_table(text) TO PUBLIC;
