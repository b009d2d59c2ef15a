-- Whether the triggers that capture a source are as pgstream made them. Those of partitions that
-- came since are not among them.
CREATE OR REPLACE FUNCTION pgstream._has_its_triggers(p_relid oid) RETURNS bool
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT FROM pgstream.pgs_change_tracking
                    WHERE source_relid = p_relid
                      AND coalesce(triggers <@ pgstream._trigger_stamps(p_relid), true))
$$;

GRANT EXECUTE ON FUNCTION pgstream._has_its_triggers(oid) TO PUBLIC;
