-- Whether this transaction wrote this version of a row that it sees. Compares no transaction ids:
-- inside a savepoint xmin is that of the savepoint.
CREATE OR REPLACE FUNCTION pgstream._is_uncommitted(p_xmin xid) RETURNS bool
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

GRANT EXECUTE ON FUNCTION pgstream._is_uncommitted(xid) TO PUBLIC;
