-- Drop a stream table for p_caller, with all that is stored of it. Runs as the role that installed
-- pgstream, and checks the rights of p_caller.
CREATE OR REPLACE FUNCTION pgstream._drop(p_caller name, p_name text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
DECLARE
    id bigint := pgstream._resolve(p_name);
    relid oid;
    storage_exists bool;
    state text;
BEGIN
    PERFORM pgstream._require_owner(id, p_caller);
    PERFORM pgstream._wait_for_refresh_end(id);
    PERFORM pgstream._resolve(p_name);  -- somebody may have dropped it meanwhile
    SELECT pgs_relid INTO relid FROM pgstream.pgs_stream_tables WHERE pgs_id = id FOR UPDATE;
    storage_exists := EXISTS (SELECT FROM pg_class WHERE oid = relid);
    -- Lock, then look: somebody may be creating a stream table that reads this one.
    IF storage_exists THEN
        EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', pgstream._relation_name(relid));
    END IF;
    PERFORM pgstream._require_no_dependents(relid);
    PERFORM pgstream._untrack(id);
    PERFORM pgstream._remove_capture(relid);
    IF storage_exists THEN
        EXECUTE format('DROP TABLE %s CASCADE', pgstream._relation_name(relid));
    END IF;
    -- Their names are kind_<id> or kind_<id>_<more>.
    FOR state IN SELECT c.relname FROM pg_class c
                  WHERE c.relnamespace = 'pgstream_state'::regnamespace AND c.relkind = 'r'
                    AND c.relname ~ format('^[a-z]+_%s(_\w+)?$', id) LOOP
        EXECUTE format('DROP TABLE pgstream_state.%I', state);
    END LOOP;
    DELETE FROM pgstream.pgs_stream_tables WHERE pgs_id = id;
    PERFORM pg_notify('pgstream_wake', id::text);
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._drop(name, text) TO PUBLIC;
