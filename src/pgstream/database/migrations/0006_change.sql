-- Create alter_stream_table and drop_stream_table.

-- The public functions run as their caller, only to tell the private ones who that is.

CREATE FUNCTION pgstream._wait_for_refresh_end(p_id bigint) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT pg_advisory_xact_lock(pgstream._refresh_lock(), p_id::int)
$$;

CREATE FUNCTION pgstream._check_status(p_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF p_text IS NULL OR upper(btrim(p_text)) IN ('ACTIVE', 'SUSPENDED') THEN
        RETURN upper(btrim(p_text));
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'PS017',
        MESSAGE = format('%s is not a status that can be set', quote_literal(p_text)),
        HINT = 'Use ACTIVE or SUSPENDED.';
END
$$;

-- A frontier says from where to read changes on. When capture starts or stops it says nothing.
CREATE FUNCTION pgstream._set_mode(p_id bigint, p_mode text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    old_mode text;
BEGIN
    PERFORM pgstream._wait_for_refresh_end(p_id);
    SELECT refresh_mode INTO old_mode FROM pgstream.pgs_stream_tables
     WHERE pgs_id = p_id FOR UPDATE;
    IF old_mode = 'FULL' AND p_mode <> 'FULL' THEN
        PERFORM pgstream._track(p_id);
    ELSIF old_mode <> 'FULL' AND p_mode = 'FULL' THEN
        PERFORM pgstream._untrack(p_id);
    END IF;
    UPDATE pgstream.pgs_stream_tables
       SET refresh_mode = p_mode,
           frontier = CASE WHEN (old_mode = 'FULL') = (p_mode = 'FULL') THEN frontier END
     WHERE pgs_id = p_id;
END
$$;

CREATE FUNCTION pgstream._alter(
    p_caller name, p_name text, p_schedule text, p_mode text, p_status text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    id bigint := pgstream._resolve(p_name);
    new_schedule text := pgstream._check_schedule(p_schedule);
    new_status text := pgstream._check_status(p_status);
BEGIN
    PERFORM pgstream._require_owner(id, p_caller);
    IF p_mode IS NOT NULL THEN
        PERFORM pgstream._set_mode(id, pgstream._check_mode(p_mode));
    END IF;
    UPDATE pgstream.pgs_stream_tables
       SET schedule = CASE WHEN p_schedule IS NULL THEN schedule ELSE new_schedule END,
           -- One that was never built stays INITIALIZING, so that it will be.
           status = CASE WHEN new_status = 'ACTIVE' AND status = 'INITIALIZING' THEN status
                         WHEN new_status = 'ACTIVE' AND status = 'ERROR' AND NOT is_populated
                         THEN 'INITIALIZING'
                         ELSE coalesce(new_status, status) END,
           consecutive_errors = CASE new_status WHEN 'ACTIVE' THEN 0 ELSE consecutive_errors END,
           last_error = CASE new_status WHEN 'ACTIVE' THEN NULL ELSE last_error END,
           updated_at = now()
     WHERE pgs_id = id;
    PERFORM pg_notify('pgstream_wake', id::text);
END
$$;

CREATE FUNCTION pgstream.alter_stream_table(
    name text,
    schedule text DEFAULT NULL,
    refresh_mode text DEFAULT NULL,
    status text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pgstream._alter(current_user, name, schedule, refresh_mode, status);
END
$$;

CREATE FUNCTION pgstream._require_no_dependents(p_relid oid) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    dependents text := (
        SELECT string_agg(format('%I.%I', t.pgs_schema, t.pgs_name), ', '
                          ORDER BY t.pgs_schema, t.pgs_name)
          FROM pgstream.pgs_dependencies d JOIN pgstream.pgs_stream_tables t USING (pgs_id)
         WHERE d.source_relid = p_relid);
BEGIN
    IF dependents IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PS010',
            MESSAGE = format('other stream tables read %s: %s',
                             pgstream._relation_name(p_relid), dependents),
            DETAIL = dependents,
            HINT = 'Drop those first.';
    END IF;
END
$$;

CREATE FUNCTION pgstream._drop(p_caller name, p_name text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
DECLARE
    id bigint := pgstream._resolve(p_name);
    relid oid;
    storage_exists bool;
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
    EXECUTE format('DROP TABLE IF EXISTS pgstream_state.state_%s', id);
    DELETE FROM pgstream.pgs_stream_tables WHERE pgs_id = id;
    PERFORM pg_notify('pgstream_wake', id::text);
END
$$;

CREATE FUNCTION pgstream.drop_stream_table(name text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pgstream._drop(current_user, name);
END
$$;
