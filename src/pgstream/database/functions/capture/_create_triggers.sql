-- Create the triggers that are missing; tells how many. A name carries the source's oid, because
-- a partition may have the triggers of its parent beside its own.
CREATE OR REPLACE FUNCTION pgstream._create_triggers(p_relid oid) RETURNS int
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    by_row bool := pgstream._needs_row_triggers(p_relid);
    wanted record;
    created int := 0;
BEGIN
    FOR wanted IN
        SELECT p_relid AS relid, event, referencing
          FROM (VALUES ('INSERT', 'REFERENCING NEW TABLE AS __pgs_new'),
                       ('UPDATE', 'REFERENCING OLD TABLE AS __pgs_old NEW TABLE AS __pgs_new'),
                       ('DELETE', 'REFERENCING OLD TABLE AS __pgs_old')) v(event, referencing)
        UNION ALL
        -- PostgreSQL clones row triggers to partitions, but not this one.
        SELECT p_relid, 'TRUNCATE', NULL
        UNION ALL
        SELECT relid, 'TRUNCATE', NULL FROM pg_partition_tree(p_relid) WHERE relid <> p_relid
    LOOP
        CONTINUE WHEN EXISTS (
            SELECT FROM pg_trigger
             WHERE tgrelid = wanted.relid
               AND tgname = format('__pgs_capture_%s_%s', lower(wanted.event), p_relid));
        PERFORM pgstream._require_right(wanted.relid, 'TRIGGER');
        EXECUTE format(
            'CREATE TRIGGER __pgs_capture_%s_%s AFTER %s ON %s %s EXECUTE FUNCTION %s',
            lower(wanted.event), p_relid, wanted.event, pgstream._relation_name(wanted.relid),
            CASE WHEN wanted.event = 'TRUNCATE' THEN 'FOR EACH STATEMENT'
                 WHEN by_row THEN 'FOR EACH ROW'
                 ELSE wanted.referencing || ' FOR EACH STATEMENT' END,
            format('pgstream_changes.capture_%s()', p_relid));
        created := created + 1;
    END LOOP;
    RETURN created;
END
$$;

REVOKE ALL ON FUNCTION pgstream._create_triggers(oid) FROM PUBLIC;
