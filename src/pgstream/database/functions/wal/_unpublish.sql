-- The WAL no longer tells the changes of a source, which may be gone already.
CREATE OR REPLACE FUNCTION pgstream._unpublish(p_relid oid, p_event text, p_reason text)
RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT pgstream._is_wal_captured(p_relid) THEN
        RETURN;
    END IF;
    UPDATE pgstream.pgs_change_tracking SET wal_since = NULL, slot_name = NULL, wal_membership = NULL
     WHERE source_relid = p_relid;
    IF pgstream._membership(p_relid) IS NOT NULL THEN
        EXECUTE format('ALTER PUBLICATION %I DROP TABLE ONLY %s', pgstream._publication_name(),
                       pgstream._relation_name(p_relid));
    END IF;
    PERFORM pgstream._set_cdc_mode(p_relid, 'TRIGGER', p_event, p_reason);
END
$$;

REVOKE ALL ON FUNCTION pgstream._unpublish(oid, text, text) FROM PUBLIC;
