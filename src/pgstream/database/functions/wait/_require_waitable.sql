-- Fail unless this transaction can see what a worker does, and a worker what this one has done.
CREATE OR REPLACE FUNCTION pgstream._require_waitable(p_id bigint) RETURNS void
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

GRANT EXECUTE ON FUNCTION pgstream._require_waitable(bigint) TO PUBLIC;
