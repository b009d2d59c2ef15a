-- Are all writes to the sources captured?
CREATE OR REPLACE FUNCTION pgstream._check_capture(
    OUT severity text, OUT subject text, OUT message text, OUT hint text)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'error', pgstream._relation_name(c.source_relid), string_agg(alert, ', '),
           format('Writes since then are lost to its stream tables. As role %I: SELECT '
                  'pgstream._install_capture(%L::regclass); enable triggers that are disabled, and '
                  'refresh the stream tables with --full.', pgstream._runner(),
                  pgstream._relation_name(c.source_relid))
      FROM pgstream._captured_sources() c
     CROSS JOIN LATERAL pgstream._capture_alerts(c.source_relid, c.is_stream, c.cdc_mode) alert
     WHERE alert <> 'source_missing'
       AND EXISTS (SELECT FROM pg_class WHERE oid = c.source_relid)
     GROUP BY c.source_relid
     ORDER BY c.source_relid
$$;

GRANT EXECUTE ON FUNCTION pgstream._check_capture() TO PUBLIC;
