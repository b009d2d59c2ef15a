-- Per captured source how its changes are captured, and what is wrong with that.
CREATE OR REPLACE FUNCTION pgstream.check_cdc_health()
RETURNS TABLE (
    source_relid bigint, source_table text, cdc_mode text, slot_name text, lag_bytes bigint,
    confirmed_lsn text, alert text)
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
    SELECT c.source_relid::bigint, pgstream._relation_name(c.source_relid), c.cdc_mode, c.slot_name,
           pg_wal_lsn_diff(pgstream._wal_end(), s.confirmed_flush_lsn)::bigint,
           s.confirmed_flush_lsn::text,
           (SELECT string_agg(word, ', ')
              FROM (SELECT pgstream._capture_alerts(c.source_relid, c.is_stream, c.cdc_mode)
                    UNION ALL
                    SELECT pgstream._slot_alerts(c.slot_name)) alerts(word))
      FROM pgstream._captured_sources() c
      LEFT JOIN pg_replication_slots s ON s.slot_name = c.slot_name
     ORDER BY c.source_relid
$$;

GRANT EXECUTE ON FUNCTION pgstream.check_cdc_health() TO PUBLIC;
