-- A new reader of a source that is captured from the WAL learns so.
CREATE OR REPLACE FUNCTION pgstream._mirror_cdc_mode(p_relid oid) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    UPDATE pgstream.pgs_dependencies d SET cdc_mode = 'WAL', slot_name = t.slot_name
      FROM pgstream.pgs_change_tracking t
     WHERE t.source_relid = p_relid AND t.wal_since IS NOT NULL
       AND d.source_relid = p_relid AND d.cdc_mode <> 'WAL'
$$;

REVOKE ALL ON FUNCTION pgstream._mirror_cdc_mode(oid) FROM PUBLIC;
