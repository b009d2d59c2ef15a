-- Create create_stream_table and what it needs.

-- create_stream_table runs as its caller and lets PostgreSQL analyse the query as a temporary
-- view. _register runs as the role that installed pgstream. It believes nothing its caller says:
-- it reads the view from the system catalogs and checks the rights of the view's owner.

-- Nobody but the worker changes a stream table.
CREATE FUNCTION pgstream._guard() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF current_setting('pg_stream.applying', true) IS DISTINCT FROM 'on' THEN
        RAISE EXCEPTION USING ERRCODE = 'PS019',
            MESSAGE = format('stream table %I.%I is maintained by pgstream; change its sources '
                             'instead', TG_TABLE_SCHEMA, TG_TABLE_NAME);
    END IF;
    RETURN NULL;
END
$$;

-- Whether "relation ... does not exist" speaks of the stream table to be created.
CREATE FUNCTION pgstream._is_itself(p_message text, p_nsp text, p_rel text) RETURNS bool
LANGUAGE sql STABLE AS $$
    SELECT position(pg_catalog.format('"%s.%s"', p_nsp, p_rel) IN p_message) > 0
        OR position(pg_catalog.format('"%s"', p_rel) IN p_message) > 0
           AND p_nsp = ANY (pg_catalog.current_schemas(false)::text[])
$$;

-- Fail unless the query is one SELECT that the caller may run. It is planned, but does not run.
-- This and _probe have no search_path of their own: the query means what it means to the caller.
CREATE FUNCTION pgstream._check_query(p_query text, p_nsp text, p_rel text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    cur refcursor;
    message text;
BEGIN
    IF pg_catalog.regexp_replace(
           coalesce(p_query, ''), '--[^\n]*|/\*.*?\*/|[\s;]', '', 'g') = '' THEN
        RAISE EXCEPTION USING ERRCODE = 'PS005', MESSAGE = 'the query is empty',
            HINT = 'Give a SELECT.';
    END IF;
    OPEN cur FOR EXECUTE p_query;
    CLOSE cur;
EXCEPTION
    WHEN invalid_cursor_definition THEN
        GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
        IF message LIKE '%multi-query%' THEN
            RAISE EXCEPTION USING ERRCODE = 'PS006',
                MESSAGE = 'the query holds several statements',
                HINT = 'A stream table is defined by one SELECT.';
        END IF;
        RAISE EXCEPTION USING ERRCODE = 'PS007', MESSAGE = 'the query is not a SELECT',
            DETAIL = message, HINT = 'A stream table is defined by one SELECT.';
    WHEN undefined_table THEN
        GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
        IF pgstream._is_itself(message, p_nsp, p_rel) THEN
            RAISE EXCEPTION USING ERRCODE = 'PS008',
                MESSAGE = pg_catalog.format('the stream table would depend on itself: '
                                            '%1$I.%2$I -> %1$I.%2$I', p_nsp, p_rel),
                HINT = 'For a recursive query use WITH RECURSIVE.';
        END IF;
        RAISE;
END
$$;

-- The query as a temporary view. The caller drops it.
CREATE FUNCTION pgstream._probe(p_query text) RETURNS oid
LANGUAGE plpgsql AS $$
DECLARE
    message text;
BEGIN
    EXECUTE 'CREATE TEMPORARY VIEW __pgs_probe AS ' || p_query;
    RETURN 'pg_temp.__pgs_probe'::pg_catalog.regclass;
EXCEPTION
    -- The query has passed _check_query, so a syntax error means that it returns rows, but
    -- not as a SELECT does: INSERT ... RETURNING, EXPLAIN, SHOW.
    WHEN syntax_error OR feature_not_supported THEN
        GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
        RAISE EXCEPTION USING ERRCODE = 'PS007', MESSAGE = 'the query is not a SELECT',
            DETAIL = message, HINT = 'A stream table is defined by one SELECT.';
    WHEN invalid_table_definition OR duplicate_column THEN
        GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
        RAISE EXCEPTION USING ERRCODE = 'PS018', MESSAGE = message,
            HINT = 'Name and type every column of the query: expression::type AS name.';
END
$$;

-- What a view reads. System catalogs are not in pg_depend, but they are in the stored tree, in
-- which names and strings cannot pass for a field: their blanks are escaped.
CREATE FUNCTION pgstream._sources(p_view oid, OUT relid oid, OUT columns text[])
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT s.relid, coalesce(
        (SELECT array_agg(DISTINCT a.attname::text ORDER BY a.attname::text)
           FROM pg_depend d
           JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
          WHERE d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
            AND d.refclassid = 'pg_class'::regclass AND d.refobjid = s.relid
            AND d.refobjsubid > 0), '{}')
      FROM pg_rewrite r
     CROSS JOIN LATERAL (
        SELECT DISTINCT m[1]::oid AS relid
          FROM regexp_matches(r.ev_action::text, ':relid (\d+)', 'g') m) s
     WHERE r.ev_class = p_view AND s.relid NOT IN (0, p_view)
     ORDER BY s.relid
$$;

-- The functions a view uses, by name or behind an operator.
CREATE FUNCTION pgstream._functions(p_view oid, OUT fn oid, OUT by_name bool)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT m[1]::oid, true
      FROM pg_rewrite r,
           regexp_matches(r.ev_action::text, ':(?:funcid|aggfnoid|winfnoid) (\d+)', 'g') m
     WHERE r.ev_class = p_view AND m[1] <> '0'
    UNION
    SELECT o.oprcode::oid, false
      FROM pg_rewrite r, regexp_matches(r.ev_action::text, ':opno (\d+)', 'g') m
      JOIN pg_operator o ON o.oid = m[1]::oid
     WHERE r.ev_class = p_view
$$;

-- As the catalog lists them: qualified, but for those of PostgreSQL itself.
CREATE FUNCTION pgstream._function_names(p_view oid) RETURNS text[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(array_agg(DISTINCT CASE n.nspname WHEN 'pg_catalog' THEN p.proname::text
                                       ELSE format('%I.%I', n.nspname, p.proname) END), '{}')
      FROM pgstream._functions(p_view) f
      JOIN pg_proc p ON p.oid = f.fn
      JOIN pg_namespace n ON n.oid = p.pronamespace
     WHERE f.by_name
$$;

CREATE FUNCTION pgstream._tree_has(p_view oid, p_pattern text) RETURNS bool
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT FROM pg_rewrite WHERE ev_class = p_view AND ev_action::text ~ p_pattern)
$$;

-- Fail if p_caller may not read what the view reads. A row as a whole (SELECT t FROM t) names no
-- columns in pg_depend, so then rights on columns are not enough.
CREATE FUNCTION pgstream._check_rights(p_view oid, p_caller oid) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    whole_row bool := pgstream._tree_has(p_view, ':varattno 0 ');
    source record;
    fn oid;
BEGIN
    FOR source IN SELECT * FROM pgstream._sources(p_view) LOOP
        PERFORM pgstream._check_readable(source.relid);
        IF NOT has_table_privilege(p_caller, source.relid, 'SELECT') AND (
            whole_row
            OR NOT has_any_column_privilege(p_caller, source.relid, 'SELECT')
            OR EXISTS (SELECT FROM unnest(source.columns) c
                        WHERE NOT has_column_privilege(p_caller, source.relid, c, 'SELECT'))) THEN
            RAISE EXCEPTION USING ERRCODE = 'PS009',
                MESSAGE = format('permission denied for table %s',
                                 pgstream._relation_name(source.relid)),
                HINT = format('GRANT SELECT ON %s TO %s', pgstream._relation_name(source.relid),
                              p_caller::regrole);
        END IF;
        PERFORM pgstream._require_right(source.relid, 'SELECT');
    END LOOP;
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

-- Fail on volatile functions, whose value changes though no row does: no delta describes that.
-- AUTO runs full then, and says so. A STABLE function is only warned of.
CREATE FUNCTION pgstream._check_volatility(p_view oid, p_mode text) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    volatile_one text;
    stable_ones text;
BEGIN
    SELECT min(p.proname) FILTER (WHERE p.provolatile = 'v'),
           string_agg(DISTINCT p.proname || '()', ', ') FILTER (WHERE p.provolatile = 's')
      INTO volatile_one, stable_ones
      FROM pgstream._functions(p_view) used(fn) JOIN pg_proc p ON p.oid = used.fn;
    IF pgstream._tree_has(p_view, '{SQLVALUEFUNCTION ') THEN
        stable_ones := concat_ws(', ', stable_ones, 'CURRENT_TIMESTAMP and its kin');
    END IF;
    IF volatile_one IS NOT NULL AND p_mode = 'DIFFERENTIAL' THEN
        RAISE EXCEPTION USING ERRCODE = 'PS021',
            MESSAGE = format('the function %s() is volatile: it gives another value at each call',
                             volatile_one),
            DETAIL = 'A change of the result would have no change of a source behind it.',
            HINT = 'Compute it when you read the stream table, or store it in a source column.';
    END IF;
    IF volatile_one IS NOT NULL AND p_mode = 'AUTO' THEN
        RAISE WARNING 'the function %() is volatile: the stream table is refreshed in FULL mode',
            volatile_one;
        RETURN 'FULL';
    END IF;
    IF stable_ones IS NOT NULL AND p_mode <> 'FULL' THEN
        RAISE WARNING 'the query uses STABLE functions: %', stable_ones
            USING HINT = 'Their value may differ between refreshes; rows that do not change '
                         'keep the value of their last refresh.';
    END IF;
    RETURN p_mode;
END
$$;

CREATE FUNCTION pgstream._check_shape(p_view oid) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    reserved text;
BEGIN
    IF pgstream._tree_has(p_view, ':hasForUpdate true') THEN
        RAISE EXCEPTION USING ERRCODE = 'PS007',
            MESSAGE = 'the query locks rows (FOR UPDATE or FOR SHARE)',
            HINT = 'Leave the locking clause out.';
    END IF;
    IF pgstream._tree_has(p_view, ':hasTargetSRFs true') THEN
        RAISE EXCEPTION USING ERRCODE = 'PS015',
            MESSAGE = 'a set-returning function in the SELECT list is not supported',
            HINT = 'Expand the rows when you read the stream table.';
    END IF;
    IF EXISTS (SELECT FROM pgstream._functions(p_view) used(fn) JOIN pg_proc p ON p.oid = used.fn
                WHERE p.prokind = 'a' AND p.pronamespace <> 'pg_catalog'::regnamespace) THEN
        RAISE EXCEPTION USING ERRCODE = 'PS015',
            MESSAGE = 'a user-defined aggregate is not supported',
            HINT = 'Use COUNT, SUM, AVG, MIN or MAX.';
    END IF;
    IF pgstream._tree_has(p_view, ':varattno -') THEN
        RAISE EXCEPTION USING ERRCODE = 'PS018',
            MESSAGE = 'the query reads a system column such as ctid or xmin',
            HINT = 'Read ordinary columns only.';
    END IF;
    SELECT attname INTO reserved FROM pg_attribute
     WHERE attrelid = p_view AND attnum > 0 AND attname LIKE '\_\_pgs\_%'
       AND NOT (attname = '__pgs_row_id' AND EXISTS (
            SELECT FROM pgstream._sources(p_view) s
              JOIN pgstream.pgs_stream_tables t ON t.pgs_relid = s.relid)) LIMIT 1;
    IF reserved IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PS018',
            MESSAGE = format('the column name "%s" is reserved', reserved),
            HINT = 'Names that start with __pgs_ are internal.';
    END IF;
    IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = p_view AND attnum > 0
                      AND attname <> '__pgs_row_id') THEN
        RAISE EXCEPTION USING ERRCODE = 'PS018', MESSAGE = 'the query has no columns',
            HINT = 'Select at least one.';
    END IF;
END
$$;

-- The way round, if one of the sources depends on p_relid: 'a -> b -> a'; else NULL.
CREATE FUNCTION pgstream._cycle_path(p_relid oid, p_sources oid[]) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE walk(relid, path) AS (
        SELECT s, ARRAY[p_relid, s] FROM unnest(p_sources) s
        UNION ALL
        SELECT d.source_relid, w.path || d.source_relid
          FROM walk w
          JOIN pgstream.pgs_stream_tables t ON t.pgs_relid = w.relid
          JOIN pgstream.pgs_dependencies d ON d.pgs_id = t.pgs_id
         WHERE w.relid <> p_relid AND NOT d.source_relid = ANY (w.path[2:]))
    SELECT (SELECT string_agg(pgstream._relation_name(r), ' -> ' ORDER BY i)
              FROM unnest(w.path) WITH ORDINALITY u(r, i))
      FROM walk w WHERE w.relid = p_relid ORDER BY cardinality(w.path) LIMIT 1
$$;

-- The table that holds the result: the columns PostgreSQL gives the query, and __pgs_row_id.
CREATE FUNCTION pgstream._create_storage(p_view oid, p_nsp text, p_rel text, p_owner oid)
RETURNS oid
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    storage text := format('%I.%I', p_nsp, p_rel);
BEGIN
    IF NOT has_schema_privilege(p_nsp, 'CREATE') THEN
        RAISE EXCEPTION USING ERRCODE = 'PS009',
            MESSAGE = format('role %I, which runs pgstream, may not create tables in schema %I',
                             current_user, p_nsp),
            HINT = format('GRANT USAGE, CREATE ON SCHEMA %I TO %I', p_nsp, current_user);
    END IF;
    EXECUTE format('CREATE TABLE %s (%s, __pgs_row_id bigint NOT NULL)', storage, (
        SELECT string_agg(
                   format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod))
                   || CASE WHEN a.attcollation NOT IN (0, t.typcollation)
                           THEN format(' COLLATE %I.%I', cn.nspname, co.collname) ELSE '' END,
                   ', ' ORDER BY a.attnum)
          FROM pg_attribute a
          JOIN pg_type t ON t.oid = a.atttypid
          LEFT JOIN pg_collation co ON co.oid = a.attcollation
          LEFT JOIN pg_namespace cn ON cn.oid = co.collnamespace
         WHERE a.attrelid = p_view AND a.attnum > 0 AND a.attname <> '__pgs_row_id'));
    EXECUTE format('CREATE INDEX ON %s (__pgs_row_id)', storage);
    EXECUTE format('CREATE TRIGGER __pgs_guard BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE '
                   'ON %s FOR EACH STATEMENT EXECUTE FUNCTION pgstream._guard()', storage);
    IF p_owner <> current_user::regrole THEN
        EXECUTE format('GRANT SELECT ON %s TO %s WITH GRANT OPTION', storage, p_owner::regrole);
    END IF;
    RETURN storage::regclass;
END
$$;

-- The query, all names qualified. SELECT * over a stream table also gives the stream table's
-- __pgs_row_id; that column is left out.
CREATE FUNCTION pgstream._defining_query(p_view oid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN bool_or(a.attname = '__pgs_row_id')
                THEN format('SELECT %s FROM (%s) q',
                            string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)
                                FILTER (WHERE a.attname <> '__pgs_row_id'), v.text)
                ELSE v.text END
      FROM (SELECT rtrim(btrim(pg_get_viewdef(p_view)), ';') AS text) v
     CROSS JOIN pg_attribute a
     WHERE a.attrelid = p_view AND a.attnum > 0
     GROUP BY v.text
$$;

CREATE FUNCTION pgstream._add_dependencies(p_id bigint, p_view oid) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO pgstream.pgs_dependencies (pgs_id, source_relid, source_type, columns_used)
    SELECT p_id, s.relid,
           CASE WHEN EXISTS (SELECT FROM pgstream.pgs_stream_tables t WHERE t.pgs_relid = s.relid)
                THEN 'STREAM_TABLE'
                WHEN c.relkind IN ('v', 'm') THEN 'VIEW'
                ELSE 'TABLE' END,
           s.columns
      FROM pgstream._sources(p_view) s JOIN pg_class c ON c.oid = s.relid
$$;

CREATE FUNCTION pgstream._register(
    p_view oid, p_name text, p_query text, p_schedule text, p_mode text, p_initialize bool)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    caller oid;
    target record;
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
    SELECT * INTO target FROM pgstream._check_target(p_name, caller);
    PERFORM pgstream._check_shape(p_view);
    PERFORM pgstream._check_rights(p_view, caller);
    mode := pgstream._check_volatility(p_view, mode);
    relid := pgstream._create_storage(p_view, target.nsp, target.rel, caller);
    cycle := pgstream._cycle_path(relid, ARRAY(SELECT s.relid FROM pgstream._sources(p_view) s));
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

CREATE FUNCTION pgstream.create_stream_table(
    name text,
    query text,
    schedule text DEFAULT '1m',
    refresh_mode text DEFAULT 'DIFFERENTIAL',
    initialize bool DEFAULT true)
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    caller oid := (SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname = current_user);
    target record;
BEGIN
    SELECT * INTO target FROM pgstream._check_target(name, caller);
    PERFORM pgstream._check_schedule(schedule);
    PERFORM pgstream._check_mode(refresh_mode);
    PERFORM pgstream._check_query(query, target.nsp, target.rel);
    PERFORM pgstream._register(
        pgstream._probe(query), name, query, schedule, refresh_mode, initialize);
    DROP VIEW pg_temp.__pgs_probe;
END
$$;
