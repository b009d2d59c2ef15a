-- Create refresh_stream_table and wait_for_stream_table.

-- A request cannot be a row: the worker would not see it before its transaction ends. It is an
-- advisory lock (the hand), which everybody sees at once in pg_locks. The answer is a row of
-- pgs_refresh_history, which the worker commits and this transaction sees.

-- Whether this transaction wrote this version of a row that it sees. Compares no transaction ids:
-- inside a savepoint xmin is that of the savepoint.
CREATE FUNCTION pgstream._is_uncommitted(p_xmin xid) RETURNS bool
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    epoch constant bigint := 4294967296;
    next_xid bigint := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
    low bigint := p_xmin::text::bigint;
    full_xid bigint;
BEGIN
    -- A subtransaction's xid may be above the snapshot's xmax, which knows none but finished ones.
    full_xid := next_xid / epoch * epoch + low;
    IF full_xid > next_xid + epoch / 2 THEN
        full_xid := full_xid - epoch;
    ELSIF full_xid < next_xid - epoch / 2 THEN
        full_xid := full_xid + epoch;
    END IF;
    RETURN low > 2 AND full_xid >= 3
       AND coalesce(pg_xact_status(full_xid::text::xid8) = 'in progress', false);
END
$$;

-- Fail unless this transaction can see what a worker does, and a worker what this one has done.
CREATE FUNCTION pgstream._require_waitable(p_id bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    row_xmin xid;
    st_name text;
BEGIN
    IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        RAISE EXCEPTION USING ERRCODE = 'PS020',
            MESSAGE = format('a %s transaction cannot wait for a worker: it never sees the result',
                             current_setting('transaction_isolation')),
            HINT = 'Call the function in a read committed transaction.';
    END IF;
    SELECT xmin, format('%I.%I', pgs_schema, pgs_name) INTO row_xmin, st_name
      FROM pgstream.pgs_stream_tables WHERE pgs_id = p_id;
    IF pgstream._is_uncommitted(row_xmin) THEN
        RAISE EXCEPTION USING ERRCODE = 'PS020',
            MESSAGE = format('this transaction has created or altered %s; commit first', st_name),
            HINT = 'A worker sees committed stream tables only.';
    END IF;
END
$$;

CREATE FUNCTION pgstream._require_worker() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT pgstream._worker_alive() THEN
        RAISE EXCEPTION USING ERRCODE = 'PS013',
            MESSAGE = 'no pgstream worker is alive in this database',
            HINT = format('start one with: pgstream serve --dsn "dbname=%s ..."',
                          current_database());
    END IF;
END
$$;

CREATE FUNCTION pgstream._require_not_suspended(p_id bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    st pgstream.pgs_stream_tables;
BEGIN
    SELECT * INTO st FROM pgstream.pgs_stream_tables WHERE pgs_id = p_id;
    IF st.status = 'SUSPENDED' THEN
        RAISE EXCEPTION USING ERRCODE = 'PS012',
            MESSAGE = format('stream table %I.%I is suspended', st.pgs_schema, st.pgs_name),
            HINT = format('SELECT pgstream.alter_stream_table(%L, status => ''ACTIVE'')',
                          format('%I.%I', st.pgs_schema, st.pgs_name));
    END IF;
END
$$;

-- Wait for the outcome of a refresh that began after p_since.
CREATE FUNCTION pgstream._await_refresh(p_id bigint, p_name text, p_since timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    outcome record;
    worker_lives bool;
BEGIN
    LOOP
        -- Look at the worker first: it may answer and leave between two looks.
        worker_lives := pgstream._worker_alive();
        SELECT status, error_message INTO outcome
          FROM pgstream.pgs_refresh_history
         WHERE pgs_id = p_id AND start_time >= p_since AND status IN ('COMPLETED', 'FAILED')
         ORDER BY refresh_id LIMIT 1;
        IF outcome.status = 'COMPLETED' THEN
            RETURN;
        ELSIF outcome.status = 'FAILED' THEN
            RAISE EXCEPTION USING ERRCODE = 'PS016',
                MESSAGE = format('refresh of %s failed: %s', p_name, outcome.error_message);
        END IF;
        IF NOT worker_lives THEN
            PERFORM pgstream._require_worker();
        END IF;
        PERFORM pgstream._resolve(p_name);
        PERFORM pg_sleep(0.05);
    END LOOP;
END
$$;

CREATE FUNCTION pgstream.refresh_stream_table(name text) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    id bigint := pgstream._resolve(name);
    since timestamptz;
BEGIN
    PERFORM pgstream._require_owner(id, current_user);
    PERFORM pgstream._require_not_suspended(id);
    PERFORM pgstream._require_waitable(id);
    PERFORM pgstream._require_worker();
    since := pg_catalog.clock_timestamp();
    PERFORM pg_catalog.pg_advisory_lock_shared(pgstream._hand_lock(), id::int);
    BEGIN
        PERFORM pgstream._await_refresh(id, name, since);
    EXCEPTION WHEN OTHERS OR query_canceled THEN
        PERFORM pg_catalog.pg_advisory_unlock_shared(pgstream._hand_lock(), id::int);
        RAISE;
    END;
    PERFORM pg_catalog.pg_advisory_unlock_shared(pgstream._hand_lock(), id::int);
END
$$;

CREATE FUNCTION pgstream.wait_for_stream_table(
    name text, timeout interval DEFAULT '60 seconds')
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    id bigint := pgstream._resolve(name);
    deadline timestamptz := clock_timestamp() + timeout;
    st pgstream.pgs_stream_tables;
BEGIN
    PERFORM pgstream._require_waitable(id);
    LOOP
        SELECT * INTO st FROM pgstream.pgs_stream_tables t WHERE t.pgs_id = id;
        IF NOT FOUND THEN
            PERFORM pgstream._resolve(name);
        END IF;
        IF st.is_populated THEN
            RETURN;
        END IF;
        IF st.status = 'ERROR' OR st.last_error IS NOT NULL THEN
            RAISE EXCEPTION USING ERRCODE = 'PS016',
                MESSAGE = format('stream table %I.%I cannot be built: %s', st.pgs_schema,
                                 st.pgs_name, coalesce(st.last_error, 'see its refresh history'));
        END IF;
        PERFORM pgstream._require_not_suspended(id);
        PERFORM pgstream._require_worker();
        IF clock_timestamp() >= deadline THEN
            RAISE EXCEPTION USING ERRCODE = 'PS014',
                MESSAGE = format('stream table %I.%I is not populated after %s',
                                 st.pgs_schema, st.pgs_name, timeout),
                HINT = 'The worker may still be at it. Wait again, or look at '
                       'pgstream.get_refresh_history().';
        END IF;
        PERFORM pg_sleep(0.05);
    END LOOP;
END
$$;
