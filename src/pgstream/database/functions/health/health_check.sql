-- All that is wrong or worth to know, the worst first. This is the list of all checks.
CREATE OR REPLACE FUNCTION pgstream.health_check()
RETURNS TABLE (check_name text, severity text, subject text, message text, hint text)
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
    SELECT found.check_name, found.severity, found.subject, found.message, found.hint
      FROM (SELECT 1, 'workers', c.* FROM pgstream._check_workers() c
            UNION ALL SELECT 2, 'stream tables', c.* FROM pgstream._check_stream_tables() c
            UNION ALL SELECT 3, 'freshness', c.* FROM pgstream._check_freshness() c
            UNION ALL SELECT 4, 'definitions', c.* FROM pgstream._check_definitions() c
            UNION ALL SELECT 5, 'sources', c.* FROM pgstream._check_sources() c
            UNION ALL SELECT 6, 'capture', c.* FROM pgstream._check_capture() c
            UNION ALL SELECT 7, 'buffers', c.* FROM pgstream._check_buffers() c
            UNION ALL SELECT 8, 'slots', c.* FROM pgstream._check_slots() c
            UNION ALL SELECT 9, 'wal', c.* FROM pgstream._check_wal() c
            UNION ALL SELECT 10, 'publication', c.* FROM pgstream._check_published() c
            UNION ALL SELECT 11, 'user triggers', c.* FROM pgstream._check_user_triggers() c
            UNION ALL SELECT 12, 'indexes', c.* FROM pgstream._check_indexes() c)
           found(place, check_name, severity, subject, message, hint)
     ORDER BY array_position(ARRAY['error', 'warning', 'notice'], found.severity),
              found.place, found.subject
$$;

GRANT EXECUTE ON FUNCTION pgstream.health_check() TO PUBLIC;
