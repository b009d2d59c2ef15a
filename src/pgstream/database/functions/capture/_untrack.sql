-- Stop reading the changes of every source but some. Those that nobody else reads are no longer
-- captured, nor are columns that nobody else reads.
CREATE OR REPLACE FUNCTION pgstream._untrack(p_id bigint, p_but oid[] DEFAULT '{}') RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    source oid;
    readers bigint[];
BEGIN
    FOR source IN SELECT source_relid FROM pgstream.pgs_change_tracking
                   WHERE p_id = ANY (tracked_by_pgs_ids) AND NOT source_relid = ANY (p_but)
                   ORDER BY source_relid LOOP
        PERFORM pgstream._lock_source(source);
        UPDATE pgstream.pgs_change_tracking
           SET tracked_by_pgs_ids = array_remove(tracked_by_pgs_ids, p_id)
         WHERE source_relid = source RETURNING tracked_by_pgs_ids INTO readers;
        IF readers = '{}' THEN
            PERFORM pgstream._remove_capture(source);
        ELSIF pgstream._note_reader(source, NULL)
              AND to_regproc(pgstream._capture_function_name(source)) IS NOT NULL THEN
            PERFORM pgstream._create_capture_function(source);
        END IF;
    END LOOP;
    PERFORM pgstream._drop_unused_slot();
END
$$;

REVOKE ALL ON FUNCTION pgstream._untrack(bigint, oid[]) FROM PUBLIC;
