-- Triggers capture a source again. What the WAL still holds of it is not read: its readers start
-- again from whole tables. Their frontier becomes one that nobody has seen: so a refresh that is
-- running meanwhile, be it the first, cannot commit.
CREATE OR REPLACE FUNCTION pgstream._fall_back_to_triggers(p_relid oid, p_reason text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    readers bigint[] := (SELECT tracked_by_pgs_ids FROM pgstream.pgs_change_tracking
                          WHERE source_relid = p_relid);
BEGIN
    PERFORM pgstream._unpublish(p_relid, 'transition_failed', p_reason);
    IF EXISTS (SELECT FROM pg_class WHERE oid = p_relid) THEN
        PERFORM pgstream._create_capture_function(p_relid);  -- it may be of other columns
        PERFORM pgstream._install_capture(p_relid);
    END IF;
    UPDATE pgstream.pgs_stream_tables
       SET needs_reinit = true,
           reinit_reason = format('changes in the WAL were left: %s', p_reason),
           frontier = coalesce(frontier - 'sources', '{}')
                      || jsonb_build_object('lost', pg_current_xact_id()::text)
     WHERE pgs_id = ANY (readers);
END
$$;

REVOKE ALL ON FUNCTION pgstream._fall_back_to_triggers(oid, text) FROM PUBLIC;
