-- Whether a source is captured with all columns that its readers read, and its triggers are there
-- and fire, and have always done so, unless the WAL tells its changes. What nobody reads needs
-- none, and pgstream itself fills the buffer of a stream table.
CREATE OR REPLACE FUNCTION pgstream._is_captured(p_relid oid) RETURNS bool
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT NOT EXISTS (SELECT FROM pgstream.pgs_change_tracking WHERE source_relid = p_relid)
        OR EXISTS (SELECT FROM pgstream.pgs_stream_tables WHERE pgs_relid = p_relid)
        OR EXISTS (SELECT FROM pgstream.pgs_change_tracking
                    WHERE source_relid = p_relid
                      AND to_regclass(pgstream._buffer_name(p_relid)) IS NOT NULL
                      AND columns = pgstream._captured_columns_json(p_relid))
           AND (pgstream._is_wal_captured(p_relid)
                OR pgstream._has_its_triggers(p_relid) AND NOT EXISTS (
            SELECT FROM pgstream._wanted_triggers(p_relid) w
             WHERE NOT EXISTS (
                SELECT FROM pg_trigger
                 WHERE tgrelid = w.relid AND tgenabled IN ('O', 'A')
                   AND tgname = format('__pgs_capture_%s_%s', lower(w.event), p_relid))))
$$;

GRANT EXECUTE ON FUNCTION pgstream._is_captured(oid) TO PUBLIC;
