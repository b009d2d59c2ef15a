-- Stop reading the changes of every source; those that nobody else reads are no longer captured.
CREATE OR REPLACE FUNCTION pgstream._untrack(p_id bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    source oid;
    readers bigint[];
BEGIN
    FOR source IN SELECT source_relid FROM pgstream.pgs_change_tracking
                   WHERE p_id = ANY (tracked_by_pgs_ids) ORDER BY source_relid LOOP
        PERFORM pgstream._lock_source(source);
        UPDATE pgstream.pgs_change_tracking
           SET tracked_by_pgs_ids = array_remove(tracked_by_pgs_ids, p_id)
         WHERE source_relid = source RETURNING tracked_by_pgs_ids INTO readers;
        IF readers = '{}' THEN
            PERFORM pgstream._remove_capture(source);
        END IF;
    END LOOP;
END
$$;

REVOKE ALL ON FUNCTION pgstream._untrack(bigint) FROM PUBLIC;
