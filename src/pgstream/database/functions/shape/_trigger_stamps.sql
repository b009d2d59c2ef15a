-- The triggers that capture a source, its members' as well, and who has altered them last: the
-- transaction. Whoever disables and enables one leaves a trace.
CREATE OR REPLACE FUNCTION pgstream._trigger_stamps(p_relid oid) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(jsonb_object_agg(t.oid, t.xmin::text), '{}')
      FROM pg_trigger t
     WHERE t.tgrelid IN (SELECT p_relid UNION ALL SELECT pgstream._members(p_relid))
       AND t.tgfoid = to_regproc(pgstream._capture_function_name(p_relid))
$$;

GRANT EXECUTE ON FUNCTION pgstream._trigger_stamps(oid) TO PUBLIC;
