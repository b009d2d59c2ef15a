-- Per captured source that has one, its replication slot, and how much WAL the slot keeps back.
-- One that is gone has the status 'missing'.
CREATE OR REPLACE FUNCTION pgstream.slot_health()
RETURNS TABLE (
    slot_name text, source_relid bigint, active bool, retained_wal_bytes bigint, wal_status text)
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
    SELECT c.slot_name, c.source_relid::bigint, coalesce(s.active, false),
           pg_wal_lsn_diff(pgstream._wal_end(), s.restart_lsn)::bigint,
           CASE WHEN s.slot_name IS NULL THEN 'missing' ELSE s.wal_status END
      FROM pgstream._captured_sources() c
      LEFT JOIN pg_replication_slots s ON s.slot_name = c.slot_name
     WHERE c.slot_name IS NOT NULL
     ORDER BY c.slot_name, c.source_relid
$$;

GRANT EXECUTE ON FUNCTION pgstream.slot_health() TO PUBLIC;
