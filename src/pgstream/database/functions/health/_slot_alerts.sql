-- What is wrong with the replication slot of a source, one word each.
CREATE OR REPLACE FUNCTION pgstream._slot_alerts(p_slot text) RETURNS SETOF text
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN s.slot_name IS NULL THEN 'replication_slot_missing'
                WHEN s.wal_status = 'lost' THEN 'replication_slot_lost'
                ELSE 'slot_lag_exceeds_threshold' END
      FROM (SELECT p_slot) wanted(name)
      LEFT JOIN pg_replication_slots s ON s.slot_name = wanted.name
     WHERE wanted.name IS NOT NULL
       AND (s.slot_name IS NULL OR s.wal_status = 'lost'
            OR pg_wal_lsn_diff(pgstream._wal_end(), s.confirmed_flush_lsn)
               > pgstream._number_setting('slot_lag_warning_mb', 100) * 1048576)
$$;

GRANT EXECUTE ON FUNCTION pgstream._slot_alerts(text) TO PUBLIC;
