-- If a crash has emptied UNLOGGED tables, take their frontiers from those who read them: the next
-- refresh reads these tables whole. Tells how many stream tables these are.
CREATE OR REPLACE FUNCTION pgstream._notice_crash() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    affected bigint;
BEGIN
    IF EXISTS (SELECT FROM pgstream.pgs_canary) THEN
        RETURN 0;
    END IF;
    UPDATE pgstream.pgs_stream_tables t
       SET frontier = jsonb_set(t.frontier, '{sources}',
                                (t.frontier -> 'sources') - emptied.relids)
      FROM (SELECT d.pgs_id, array_agg(DISTINCT d.source_relid::text)
              FROM pgstream.pgs_dependencies d
             CROSS JOIN LATERAL (SELECT d.source_relid UNION
                                 SELECT relid FROM pg_partition_tree(d.source_relid)) part(relid)
              JOIN pg_class c ON c.oid = part.relid AND c.relpersistence = 'u'
             GROUP BY d.pgs_id) emptied(pgs_id, relids)
     WHERE emptied.pgs_id = t.pgs_id AND t.frontier IS NOT NULL;
    GET DIAGNOSTICS affected = ROW_COUNT;
    INSERT INTO pgstream.pgs_canary VALUES (true);
    RETURN affected;
END
$$;

REVOKE ALL ON FUNCTION pgstream._notice_crash() FROM PUBLIC;
