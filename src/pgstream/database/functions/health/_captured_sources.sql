-- Every captured source, how its changes are captured, and by which slot.
CREATE OR REPLACE FUNCTION pgstream._captured_sources(
    OUT source_relid oid, OUT is_stream bool, OUT cdc_mode text, OUT slot_name text)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT t.source_relid,
           EXISTS (SELECT FROM pgstream.pgs_stream_tables s WHERE s.pgs_relid = t.source_relid),
           coalesce(min(d.cdc_mode), 'TRIGGER'), coalesce(min(d.slot_name), t.slot_name)
      FROM pgstream.pgs_change_tracking t
      LEFT JOIN pgstream.pgs_dependencies d
             ON d.source_relid = t.source_relid AND d.source_type <> 'VIEW'
     GROUP BY t.source_relid, t.slot_name
     ORDER BY t.source_relid
$$;

GRANT EXECUTE ON FUNCTION pgstream._captured_sources() TO PUBLIC;
