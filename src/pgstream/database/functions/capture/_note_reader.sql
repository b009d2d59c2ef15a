-- Record a source that is captured, and who reads it; tells whether other columns are to be
-- captured than so far.
CREATE OR REPLACE FUNCTION pgstream._note_reader(p_relid oid, p_reader bigint) RETURNS bool
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    wanted jsonb;
BEGIN
    INSERT INTO pgstream.pgs_change_tracking (source_relid, columns, buffer_schema)
    VALUES (p_relid, '[]', pgstream._buffer_schema(p_relid))
    ON CONFLICT DO NOTHING;
    UPDATE pgstream.pgs_change_tracking
       SET tracked_by_pgs_ids = tracked_by_pgs_ids || p_reader
     WHERE source_relid = p_relid AND p_reader IS NOT NULL
       AND NOT p_reader = ANY (tracked_by_pgs_ids);
    wanted := pgstream._captured_columns_json(p_relid);
    UPDATE pgstream.pgs_change_tracking SET columns = wanted
     WHERE source_relid = p_relid AND columns <> wanted;
    RETURN FOUND;
END
$$;

REVOKE ALL ON FUNCTION pgstream._note_reader(oid, bigint) FROM PUBLIC;
