-- What is wrong with the capture of a source, one word each: its table, its buffer, its triggers.
-- Triggers that are disabled, or fire for replication only, see no writes.
CREATE OR REPLACE FUNCTION pgstream._capture_alerts(p_relid oid, p_is_stream bool, p_mode text)
RETURNS SETOF text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'source_missing' WHERE NOT EXISTS (SELECT FROM pg_class WHERE oid = p_relid)
    UNION ALL
    SELECT 'buffer_missing'
     WHERE NOT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                        WHERE n.nspname = pgstream._buffer_schema(p_relid)
                          AND c.relname = format('changes_%s', p_relid))
    UNION ALL
    SELECT CASE WHEN t.oid IS NULL THEN 'trigger_missing' ELSE 'trigger_disabled' END
           || ' (' || wanted.event || ')'
      FROM (VALUES ('insert'), ('update'), ('delete'), ('truncate')) wanted(event)
      LEFT JOIN pg_trigger t ON t.tgrelid = p_relid
            AND t.tgname = format('__pgs_capture_%s_%s', wanted.event, p_relid)
     WHERE NOT p_is_stream AND p_mode <> 'WAL' AND coalesce(t.tgenabled, 'D') NOT IN ('O', 'A')
       AND EXISTS (SELECT FROM pg_class WHERE oid = p_relid)
$$;

GRANT EXECUTE ON FUNCTION pgstream._capture_alerts(oid, boolean, text) TO PUBLIC;
