-- Create the triggers that are missing, or do not fire; tells how many of the source's own. A name
-- carries the source's oid, because a partition may have the triggers of its parent beside its own.
--
-- p_wait: make one again that is there, which waits for those who are writing, and so for all rows
-- that the capture function before this one has seen.
CREATE OR REPLACE FUNCTION pgstream._create_triggers(p_relid oid, p_wait bool) RETURNS int
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    by_row bool := pgstream._needs_row_triggers(p_relid);
    wanted record;
    enabled "char";
    created int := 0;
BEGIN
    FOR wanted IN
        SELECT w.*, format('__pgs_capture_%s_%s', lower(w.event), p_relid) AS name
          FROM pgstream._wanted_triggers(p_relid) w
    LOOP
        enabled := (SELECT tgenabled FROM pg_trigger
                     WHERE tgrelid = wanted.relid AND tgname = wanted.name);
        IF enabled IN ('O', 'A') THEN
            CONTINUE WHEN NOT p_wait OR wanted.event <> 'INSERT';
        ELSIF wanted.relid = p_relid THEN
            created := created + 1;
        END IF;
        PERFORM pgstream._require_right(wanted.relid, 'TRIGGER');
        EXECUTE format(
            'CREATE OR REPLACE TRIGGER %I AFTER %s ON %s %s EXECUTE FUNCTION %s',
            wanted.name, wanted.event, pgstream._relation_name(wanted.relid),
            CASE WHEN wanted.event = 'TRUNCATE' THEN 'FOR EACH STATEMENT'
                 WHEN by_row THEN 'FOR EACH ROW'
                 ELSE wanted.referencing || ' FOR EACH STATEMENT' END,
            pgstream._capture_function_name(p_relid) || '()');
        IF enabled = 'A' THEN  -- somebody wants replicated rows to be captured
            EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I',
                           pgstream._relation_name(wanted.relid), wanted.name);
        END IF;
    END LOOP;
    UPDATE pgstream.pgs_change_tracking SET triggers = pgstream._trigger_stamps(p_relid)
     WHERE source_relid = p_relid;
    RETURN created;
END
$$;

REVOKE ALL ON FUNCTION pgstream._create_triggers(oid, boolean) FROM PUBLIC;
