-- Let stream tables read views, which are inlined: their sources are the tables below the views.

-- A row of type VIEW is a view that the query reads, directly or not. It is no source: nothing is
-- captured there. Its definition is kept, so that a worker inlines what was checked at creation.
ALTER TABLE pgstream.pgs_dependencies
    ADD COLUMN definition text;

-- What PostgreSQL prints for a view, all names qualified.
CREATE FUNCTION pgstream._view_text(p_view oid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT rtrim(btrim(pg_get_viewdef(p_view)), ';')
$$;

-- What one view reads itself. System catalogs are not in pg_depend, but they are in the stored
-- tree, in which names and strings cannot pass for a field: their blanks are escaped.
CREATE FUNCTION pgstream._direct_sources(p_view oid, OUT relid oid, OUT columns text[])
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT s.relid, ARRAY(
        SELECT DISTINCT a.attname::text
          FROM pg_depend d
          JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
         WHERE d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
           AND d.refclassid = 'pg_class'::regclass AND d.refobjid = s.relid
           AND d.refobjsubid > 0
         ORDER BY 1)
      FROM pg_rewrite r
     CROSS JOIN LATERAL (
        SELECT DISTINCT m[1]::oid AS relid
          FROM regexp_matches(r.ev_action::text, ':relid (\d+)', 'g') m) s
     WHERE r.ev_class = p_view AND r.ev_type = '1' AND s.relid NOT IN (0, p_view)
     ORDER BY s.relid
$$;

-- The view and those that it reads, to any depth. System views count as tables: none may be read.
CREATE FUNCTION pgstream._views(p_view oid) RETURNS SETOF oid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE views(relid) AS (
        SELECT p_view
        UNION
        SELECT s.relid
          FROM views v
         CROSS JOIN LATERAL pgstream._direct_sources(v.relid) s
          JOIN pg_class c ON c.oid = s.relid
          JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relkind = 'v' AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pgstream'))
    SELECT relid FROM views
$$;

-- What a view and the views below it read: those views, and the tables.
CREATE OR REPLACE FUNCTION pgstream._sources(p_view oid, OUT relid oid, OUT columns text[])
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT s.relid,
           array_remove(array_agg(DISTINCT c.name ORDER BY c.name), NULL)
      FROM pgstream._views(p_view) v
     CROSS JOIN LATERAL pgstream._direct_sources(v) s
      LEFT JOIN LATERAL unnest(s.columns) c(name) ON true
     GROUP BY s.relid
     ORDER BY s.relid
$$;

CREATE OR REPLACE FUNCTION pgstream._functions(p_view oid, OUT fn oid, OUT by_name bool)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH tree(text) AS (
        SELECT r.ev_action::text
          FROM pgstream._views(p_view) v
          JOIN pg_rewrite r ON r.ev_class = v AND r.ev_type = '1')
    SELECT m[1]::oid, true
      FROM tree, regexp_matches(text, ':(?:funcid|aggfnoid|winfnoid) (\d+)', 'g') m
     WHERE m[1] <> '0'
    UNION
    SELECT o.oprcode::oid, false
      FROM tree, regexp_matches(text, ':opno (\d+)', 'g') m
      JOIN pg_operator o ON o.oid = m[1]::oid
$$;

CREATE OR REPLACE FUNCTION pgstream._tree_has(p_view oid, p_pattern text) RETURNS bool
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM pgstream._views(p_view) v
          JOIN pg_rewrite r ON r.ev_class = v AND r.ev_type = '1'
         WHERE r.ev_action::text ~ p_pattern)
$$;

-- Fail if p_reader may not read these columns. A row as a whole (SELECT t FROM t) names no
-- columns in pg_depend, so then rights on columns are not enough.
CREATE FUNCTION pgstream._require_readable(
    p_relid oid, p_columns text[], p_whole_row bool, p_reader oid)
RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF has_table_privilege(p_reader, p_relid, 'SELECT') THEN
        RETURN;
    END IF;
    IF NOT p_whole_row
       AND has_any_column_privilege(p_reader, p_relid, 'SELECT')
       AND NOT EXISTS (SELECT FROM unnest(p_columns) c
                        WHERE NOT has_column_privilege(p_reader, p_relid, c, 'SELECT')) THEN
        RETURN;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'PS009',
        MESSAGE = format('permission denied for %s %s',
                         (SELECT CASE relkind WHEN 'v' THEN 'view' ELSE 'table' END
                            FROM pg_class WHERE oid = p_relid),
                         pgstream._relation_name(p_relid)),
        HINT = format('GRANT SELECT ON %s TO %s', pgstream._relation_name(p_relid),
                      p_reader::regrole);
END
$$;

-- With whose rights PostgreSQL reads what is in a view: its owner's, or the caller's.
CREATE FUNCTION pgstream._view_reader(p_view oid, p_caller oid) RETURNS oid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN EXISTS (
                    SELECT FROM pg_options_to_table(c.reloptions)
                     WHERE option_name = 'security_invoker' AND option_value::bool)
                THEN p_caller ELSE c.relowner END
      FROM pg_class c WHERE c.oid = p_view
$$;

CREATE FUNCTION pgstream._check_relation_rights(p_view oid, p_caller oid) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    source record;
BEGIN
    FOR source IN
        SELECT s.relid, s.columns, c.relkind, pgstream._view_reader(v, p_caller) AS reader,
               EXISTS (SELECT FROM pg_rewrite r
                        WHERE r.ev_class = v AND r.ev_type = '1'
                          AND r.ev_action::text LIKE '%:varattno 0 %') AS whole_row
          FROM pgstream._views(p_view) v
         CROSS JOIN LATERAL pgstream._direct_sources(v) s
          JOIN pg_class c ON c.oid = s.relid
    LOOP
        PERFORM pgstream._check_readable(source.relid);
        PERFORM pgstream._require_readable(
            source.relid, source.columns, source.whole_row, source.reader);
        IF source.relkind <> 'v' THEN
            PERFORM pgstream._require_right(source.relid, 'SELECT');
        END IF;
    END LOOP;
END
$$;

-- Functions in a view run with the rights of the view's reader, not of its owner.
CREATE FUNCTION pgstream._check_function_rights(p_view oid, p_caller oid) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    fn oid;
BEGIN
    FOR fn IN SELECT DISTINCT f.fn FROM pgstream._functions(p_view) f LOOP
        IF NOT has_function_privilege(p_caller, fn, 'EXECUTE') THEN
            RAISE EXCEPTION USING ERRCODE = 'PS009',
                MESSAGE = format('permission denied for function %s', fn::regprocedure);
        END IF;
        -- The worker computes as the role that installed pgstream: another role's function, which
        -- may change tomorrow, must not run with its rights.
        IF EXISTS (SELECT FROM pg_proc p JOIN pg_roles r ON r.oid = p.proowner
                    WHERE p.oid = fn AND p.pronamespace <> 'pg_catalog'::regnamespace
                      AND NOT r.rolsuper AND NOT pg_has_role(r.oid, current_user, 'MEMBER')) THEN
            RAISE EXCEPTION USING ERRCODE = 'PS009',
                MESSAGE = format('the function %s does not belong to role %I, which runs pgstream',
                                 fn::regprocedure, current_user),
                HINT = format('ALTER FUNCTION %s OWNER TO %I', fn::regprocedure, current_user);
        END IF;
        IF (SELECT pronamespace = pg_my_temp_schema() FROM pg_proc WHERE oid = fn) THEN
            RAISE EXCEPTION USING ERRCODE = 'PS015',
                MESSAGE = format('a stream table cannot use the temporary function %s',
                                 fn::regprocedure),
                HINT = 'Create the function in an ordinary schema.';
        END IF;
    END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION pgstream._check_rights(p_view oid, p_caller oid) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pgstream._check_relation_rights(p_view, p_caller);
    PERFORM pgstream._check_function_rights(p_view, p_caller);
END
$$;

-- Fail if the changes of this relation cannot be captured.
CREATE OR REPLACE FUNCTION pgstream._check_capturable(p_relid oid) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    kind "char" := (SELECT relkind FROM pg_class WHERE oid = p_relid);
    problem text;
    reason text;
    way_out text;
BEGIN
    PERFORM pgstream._check_readable(p_relid);
    IF kind = 'v' THEN
        problem := 'is a view';
        reason := 'It has no rows of its own.';
        way_out := 'Capture the tables that it reads.';
    ELSIF kind = 'm' THEN
        problem := 'is a materialized view';
        reason := 'It holds a stale snapshot of its query, and changes as a whole when it is '
                  'refreshed: no trigger tells which rows changed.';
        way_out := 'Use its query, or refresh_mode => ''FULL''.';
    ELSIF kind = 'f' THEN
        problem := 'is a foreign table';
        reason := 'Its rows change on another server, where row triggers cannot be created.';
        way_out := 'Use refresh_mode => ''FULL'', or copy it into a table.';
    ELSIF kind = 'r' AND EXISTS (SELECT FROM pg_inherits WHERE inhparent = p_relid) THEN
        problem := 'has inheritance children';
        reason := 'Its triggers do not see what is written to the children.';
        way_out := 'Use a partitioned table, or read each table by itself with UNION ALL.';
    ELSIF EXISTS (SELECT FROM pgstream._source_columns(p_relid) c WHERE c.name LIKE '\_\_pgs\_%')
          AND NOT EXISTS (SELECT FROM pgstream.pgs_stream_tables WHERE pgs_relid = p_relid) THEN
        problem := 'has a column whose name starts with __pgs_';
        reason := 'Such names are internal.';
        way_out := 'Rename the column.';
    ELSE
        RETURN;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'PS015',
        MESSAGE = format('the changes of %s cannot be captured: it %s',
                         pgstream._relation_name(p_relid), problem),
        DETAIL = reason,
        HINT = way_out;
END
$$;

-- The mode in which these sources can be read. AUTO runs full over a materialized view or a
-- foreign table, and says so; DIFFERENTIAL fails when they are to be captured.
CREATE FUNCTION pgstream._capturable_mode(p_sources oid[], p_mode text) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    uncaptured text := (
        SELECT min(CASE relkind WHEN 'm' THEN 'materialized view ' ELSE 'foreign table ' END
                   || pgstream._relation_name(oid))
          FROM pg_class WHERE oid = ANY (p_sources) AND relkind IN ('m', 'f'));
BEGIN
    IF uncaptured IS NULL OR p_mode <> 'AUTO' THEN
        RETURN p_mode;
    END IF;
    RAISE WARNING 'the changes of % cannot be captured: the stream table is refreshed in FULL mode',
        uncaptured;
    RETURN 'FULL';
END
$$;

-- Capture every source of a stream table.
CREATE OR REPLACE FUNCTION pgstream._track(p_id bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    source oid;
BEGIN
    -- In one order, so that two sessions do not wait for each other.
    FOR source IN SELECT source_relid FROM pgstream.pgs_dependencies
                   WHERE pgs_id = p_id AND source_type <> 'VIEW' ORDER BY source_relid LOOP
        PERFORM pgstream._install_capture(source);
        UPDATE pgstream.pgs_change_tracking
           SET tracked_by_pgs_ids = tracked_by_pgs_ids || p_id
         WHERE source_relid = source AND NOT p_id = ANY (tracked_by_pgs_ids);
    END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION pgstream._set_mode(p_id bigint, p_mode text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    old_mode text;
    new_mode text := pgstream._capturable_mode(
        ARRAY(SELECT source_relid FROM pgstream.pgs_dependencies WHERE pgs_id = p_id), p_mode);
BEGIN
    PERFORM pgstream._wait_for_refresh_end(p_id);
    SELECT refresh_mode INTO old_mode FROM pgstream.pgs_stream_tables
     WHERE pgs_id = p_id FOR UPDATE;
    IF old_mode = 'FULL' AND new_mode <> 'FULL' THEN
        PERFORM pgstream._track(p_id);
    ELSIF old_mode <> 'FULL' AND new_mode = 'FULL' THEN
        PERFORM pgstream._untrack(p_id);
    END IF;
    UPDATE pgstream.pgs_stream_tables
       SET refresh_mode = new_mode,
           frontier = CASE WHEN (old_mode = 'FULL') = (new_mode = 'FULL') THEN frontier END
     WHERE pgs_id = p_id;
END
$$;

CREATE OR REPLACE FUNCTION pgstream._add_dependencies(p_id bigint, p_view oid) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO pgstream.pgs_dependencies AS d (
        pgs_id, source_relid, source_type, columns_used, definition)
    SELECT p_id, s.relid,
           CASE WHEN EXISTS (SELECT FROM pgstream.pgs_stream_tables t WHERE t.pgs_relid = s.relid)
                THEN 'STREAM_TABLE'
                WHEN c.relkind = 'v' THEN 'VIEW'
                ELSE 'TABLE' END,
           s.columns,
           CASE c.relkind WHEN 'v' THEN pgstream._view_text(s.relid) END
      FROM pgstream._sources(p_view) s JOIN pg_class c ON c.oid = s.relid
    ON CONFLICT (pgs_id, source_relid) DO UPDATE
       SET columns_used = ARRAY(
               SELECT DISTINCT c FROM unnest(d.columns_used || EXCLUDED.columns_used) c ORDER BY c)
$$;

-- PREPARE makes PostgreSQL rewrite the view, which locks it and all that is below: until the
-- transaction ends nobody replaces a view whose definition is checked and stored.
CREATE FUNCTION pgstream._lock_views(p_view oid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('PREPARE __pgs_lock AS SELECT FROM pg_temp.%I',
                   (SELECT relname FROM pg_class WHERE oid = p_view));
    DEALLOCATE __pgs_lock;
END
$$;

CREATE OR REPLACE FUNCTION pgstream._register(
    p_view oid, p_name text, p_query text, p_schedule text, p_mode text, p_initialize bool)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    caller oid;
    target record;
    sources oid[];
    relid oid;
    id bigint;
    cycle text;
    mode text := pgstream._check_mode(p_mode);
BEGIN
    SELECT relowner INTO caller FROM pg_class
     WHERE oid = p_view AND relkind = 'v' AND relnamespace = pg_my_temp_schema();
    IF NOT FOUND OR NOT pg_has_role(session_user, caller, 'MEMBER') THEN
        RAISE EXCEPTION USING ERRCODE = 'PS009',
            MESSAGE = 'the session may not create stream tables for this role',
            HINT = 'Call pgstream.create_stream_table as yourself.';
    END IF;
    PERFORM pgstream._lock_views(p_view);
    SELECT * INTO target FROM pgstream._check_target(p_name, caller);
    PERFORM pgstream._check_shape(p_view);
    PERFORM pgstream._check_rights(p_view, caller);
    sources := ARRAY(SELECT s.relid FROM pgstream._sources(p_view) s);
    mode := pgstream._check_volatility(p_view, mode);
    mode := pgstream._capturable_mode(sources, mode);
    relid := pgstream._create_storage(p_view, target.nsp, target.rel, caller);
    cycle := pgstream._cycle_path(relid, sources);
    IF cycle IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PS008',
            MESSAGE = format('the stream table would depend on itself: %s', cycle);
    END IF;
    INSERT INTO pgstream.pgs_stream_tables (
        pgs_relid, pgs_name, pgs_schema, defining_query, original_query, owner_role, schedule,
        refresh_mode, status, functions_used)
    VALUES (
        relid, target.rel, target.nsp, pgstream._defining_query(p_view), p_query,
        pg_get_userbyid(caller), pgstream._check_schedule(p_schedule), mode,
        CASE WHEN coalesce(p_initialize, true) THEN 'INITIALIZING' ELSE 'ACTIVE' END,
        pgstream._function_names(p_view))
    RETURNING pgs_id INTO id;
    PERFORM pgstream._add_dependencies(id, p_view);
    IF mode <> 'FULL' THEN
        PERFORM pgstream._track(id);
    END IF;
    PERFORM pg_notify('pgstream_wake', id::text);
    RETURN id;
END
$$;

-- Those that have read a view as if it were a table, all of them in FULL mode, inline it from now
-- on. A materialized view is read as a table.
UPDATE pgstream.pgs_dependencies d SET source_type = 'TABLE'
  FROM pg_class c WHERE c.oid = d.source_relid AND c.relkind = 'm';
UPDATE pgstream.pgs_dependencies d SET definition = pgstream._view_text(c.oid)
  FROM pg_class c WHERE c.oid = d.source_relid AND c.relkind = 'v';
SELECT pgstream._add_dependencies(pgs_id, source_relid)
  FROM pgstream.pgs_dependencies WHERE definition IS NOT NULL;
