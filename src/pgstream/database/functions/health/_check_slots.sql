-- Are the replication slots there, and does the decoder keep up?
CREATE OR REPLACE FUNCTION pgstream._check_slots(
    OUT severity text, OUT subject text, OUT message text, OUT hint text)
RETURNS SETOF record
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE alert WHEN 'slot_lag_exceeds_threshold' THEN 'warning' ELSE 'error' END,
           slots.name, alert,
           CASE alert WHEN 'slot_lag_exceeds_threshold'
                THEN 'A worker must run and refresh; until then the server keeps the WAL.'
                ELSE 'Changes may be lost: refresh its readers with --full.' END
      FROM (SELECT DISTINCT slot_name FROM pgstream._captured_sources()
             WHERE slot_name IS NOT NULL) slots(name)
     CROSS JOIN LATERAL pgstream._slot_alerts(slots.name) alert
     ORDER BY slots.name
$$;

GRANT EXECUTE ON FUNCTION pgstream._check_slots() TO PUBLIC;
