-- Record that changes of a source could not be captured, for those who read them. If this fails,
-- the writer does: nothing else would tell.
CREATE OR REPLACE FUNCTION pgstream._note_capture_failure(p_relid oid, p_message text) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO pgstream.pgs_capture_failures (source_relid, message) VALUES (p_relid, p_message)
$$;

REVOKE ALL ON FUNCTION pgstream._note_capture_failure(oid, text) FROM PUBLIC;
