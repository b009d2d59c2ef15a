-- Read the query of a stream table again, because what it uses has changed: check it as when it was
-- created, for its owner, and record what it reads now. The view of the query is security_invoker,
-- so that the owner's rights count, not ours. query_with_views stays: printed again, it would keep
-- casts between types of today.
CREATE OR REPLACE FUNCTION pgstream._reread(p_id bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
DECLARE
    st pgstream.pgs_stream_tables;
    view oid;
    sources oid[];
    cycle text;
    mode text;
BEGIN
    SELECT * INTO st FROM pgstream.pgs_stream_tables WHERE pgs_id = p_id FOR UPDATE;
    DROP VIEW IF EXISTS pg_temp.__pgs_reread;
    EXECUTE 'CREATE TEMPORARY VIEW __pgs_reread WITH (security_invoker = true) AS '
            || coalesce(st.query_with_views, st.defining_query);
    view := 'pg_temp.__pgs_reread'::regclass;
    PERFORM pgstream._check_constructs(view, '');
    PERFORM pgstream._check_shape(view);
    PERFORM pgstream._check_rights(view, quote_ident(st.owner_role)::regrole);
    PERFORM pgstream._check_printable(view);
    mode := pgstream._check_volatility(view, st.refresh_mode);
    PERFORM set_config('pg_stream.block_source_ddl', 'off', true);
    PERFORM pgstream._fit_storage(st.pgs_relid, view);
    sources := ARRAY(SELECT s.relid FROM pgstream._sources(view) s);
    cycle := pgstream._cycle_path(st.pgs_relid, sources);
    IF cycle IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PS008',
            MESSAGE = format('the stream table would depend on itself: %s', cycle);
    END IF;
    PERFORM pgstream._untrack(p_id, CASE mode WHEN 'FULL' THEN '{}' ELSE sources END);
    DELETE FROM pgstream.pgs_dependencies
     WHERE pgs_id = p_id AND NOT source_relid = ANY (sources);
    UPDATE pgstream.pgs_dependencies SET columns_used = '{}' WHERE pgs_id = p_id;
    PERFORM pgstream._add_dependencies(p_id, view);
    UPDATE pgstream.pgs_stream_tables
       SET refresh_mode = mode,
           defining_query = pgstream._defining_query(view),
           functions_used = pgstream._function_names(view),
           objects_used = pgstream._objects_shape(pgstream._objects_used(view))
     WHERE pgs_id = p_id;
    IF mode <> 'FULL' THEN
        PERFORM pgstream._track(p_id);
    END IF;
    DROP VIEW pg_temp.__pgs_reread;
END
$$;

REVOKE ALL ON FUNCTION pgstream._reread(bigint) FROM PUBLIC;
