-- Check a query and make a stream table of it. Runs as the role that installed pgstream and
-- believes nothing its caller says: it reads the view from the system catalogs and checks the
-- rights of the view's owner.
CREATE OR REPLACE FUNCTION pgstream._register(
    p_view oid, p_name text, p_query text, p_schedule text, p_mode text, p_initialize bool)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    caller oid := pgstream._creator(p_view);
    target record;
    sources oid[];
    relid oid;
    id bigint;
    cycle text;
    mode text := pgstream._check_mode(p_mode);
BEGIN
    PERFORM pgstream._lock_views(p_view);
    SELECT * INTO target FROM pgstream._check_target(p_name, caller);
    PERFORM pgstream._check_constructs(p_view, p_query);
    PERFORM pgstream._check_shape(p_view);
    PERFORM pgstream._check_rights(p_view, caller);
    PERFORM pgstream._check_printable(p_view);
    sources := ARRAY(SELECT s.relid FROM pgstream._sources(p_view) s);
    mode := pgstream._check_volatility(p_view, mode);
    mode := pgstream._capturable_mode(sources, mode);
    PERFORM pgstream._check_followed(pgstream._check_schedule(p_schedule), mode);
    relid := pgstream._create_storage(p_view, target.nsp, target.rel, caller);
    cycle := pgstream._cycle_path(relid, sources);
    IF cycle IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PS008',
            MESSAGE = format('the stream table would depend on itself: %s', cycle);
    END IF;
    INSERT INTO pgstream.pgs_stream_tables (
        pgs_relid, pgs_name, pgs_schema, defining_query, original_query, owner_role, schedule,
        refresh_mode, status, functions_used, query_with_views, objects_used)
    VALUES (
        relid, target.rel, target.nsp, pgstream._defining_query(p_view), p_query,
        pg_get_userbyid(caller), pgstream._check_schedule(p_schedule), mode,
        CASE WHEN coalesce(p_initialize, true) THEN 'INITIALIZING' ELSE 'ACTIVE' END,
        pgstream._function_names(p_view), pgstream._defining_query(p_view),
        pgstream._objects_shape(pgstream._objects_used(p_view)))
    RETURNING pgs_id INTO id;
    PERFORM pgstream._add_dependencies(id, p_view);
    IF mode <> 'FULL' THEN
        PERFORM pgstream._track(id);
    END IF;
    PERFORM pgstream._save_shapes(id);
    PERFORM pg_notify('pgstream_wake', id::text);
    RETURN id;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._register(oid, text, text, text, text, boolean) TO PUBLIC;
