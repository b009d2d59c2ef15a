-- Make sure that the changes of a source are captured, in its present shape. If its columns or
-- triggers changed meanwhile, changes may be lost: those who read it must start again.
-- The worker writes the buffer of a stream table, so that has no triggers.
CREATE OR REPLACE FUNCTION pgstream._install_capture(relid oid) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    source oid := relid;
    is_stream_table bool := EXISTS (
        SELECT FROM pgstream.pgs_stream_tables WHERE pgs_relid = source);
    tracked pgstream.pgs_change_tracking;
    created int := 0;
BEGIN
    PERFORM pgstream._lock_source(source);
    PERFORM pgstream._check_capturable(source);
    PERFORM pgstream._require_right(source, 'SELECT');
    IF NOT is_stream_table THEN
        PERFORM pgstream._require_right(source, 'TRIGGER');
    END IF;

    SELECT * INTO tracked FROM pgstream.pgs_change_tracking WHERE source_relid = source;
    IF tracked.columns IS DISTINCT FROM pgstream._source_columns_json(source) THEN
        PERFORM pgstream._remove_capture(source);
        PERFORM pgstream._create_buffer(source);
        IF NOT is_stream_table THEN
            PERFORM pgstream._create_capture_function(source);
        END IF;
        INSERT INTO pgstream.pgs_change_tracking (source_relid, tracked_by_pgs_ids, columns)
        VALUES (source, coalesce(tracked.tracked_by_pgs_ids, '{}'),
                pgstream._source_columns_json(source));
        created := 1;
    END IF;
    IF NOT is_stream_table THEN
        created := created + pgstream._create_triggers(source);
    END IF;
    IF created > 0 THEN
        UPDATE pgstream.pgs_stream_tables SET needs_reinit = true
         WHERE pgs_id = ANY (tracked.tracked_by_pgs_ids);
    END IF;
END
$$;

REVOKE ALL ON FUNCTION pgstream._install_capture(oid) FROM PUBLIC;
