-- Let nobody's code run with the rights of pgstream but that of roles it trusts.

-- pgstream's own connections search no schema but PostgreSQL's, and queries are stored with every
-- name, operator and type qualified. What remains are the functions and types that a query uses
-- because its creator wrote so: their owners must be trusted.

CREATE FUNCTION pgstream._is_trusted(p_role oid) RETURNS bool
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(
        (SELECT r.rolsuper OR pg_has_role(r.oid, n.nspowner, 'MEMBER')
           FROM pg_roles r, pg_namespace n
          WHERE r.oid = p_role AND n.nspname = 'pgstream'), false)
$$;

CREATE FUNCTION pgstream._runner() RETURNS name
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = 'pgstream'
$$;

CREATE FUNCTION pgstream._require_trusted_function(p_function oid) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_proc
                WHERE oid = p_function AND pronamespace <> 'pg_catalog'::regnamespace
                  AND NOT pgstream._is_trusted(proowner)) THEN
        RAISE EXCEPTION USING ERRCODE = 'PS009',
            MESSAGE = format('the function %s does not belong to role %I, which runs pgstream',
                             p_function::regprocedure, pgstream._runner()),
            DETAIL = 'It would run with the rights of that role.',
            HINT = format('If you mean what PostgreSQL has, write its schema: '
                          'a OPERATOR(pg_catalog.=) b, pg_catalog.upper(a). If you trust this '
                          'function: ALTER FUNCTION %s OWNER TO %I',
                          p_function::regprocedure, pgstream._runner());
    END IF;
END
$$;

-- A type and those that it is made of.
CREATE FUNCTION pgstream._types_inside(p_type oid) RETURNS SETOF oid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE types(type) AS (
        SELECT p_type
        UNION
        SELECT part.type
          FROM types JOIN pg_type t ON t.oid = types.type
         CROSS JOIN LATERAL (
            SELECT t.typelem UNION ALL
            SELECT t.typbasetype UNION ALL
            SELECT r.rngsubtype FROM pg_range r WHERE t.oid IN (r.rngtypid, r.rngmultitypid)
            UNION ALL
            SELECT a.atttypid FROM pg_attribute a
             WHERE t.typrelid <> 0 AND a.attrelid = t.typrelid
               AND a.attnum > 0 AND NOT a.attisdropped) part(type)
         WHERE part.type <> 0)
    SELECT type FROM types
$$;

-- The functions that check the values of a domain, by name or behind an operator.
CREATE FUNCTION pgstream._domain_functions(p_type oid) RETURNS SETOF oid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(o.oprcode::oid, d.refobjid)
      FROM pg_constraint c
      JOIN pg_depend d ON d.classid = 'pg_constraint'::regclass AND d.objid = c.oid
       AND d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
      LEFT JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
     WHERE c.contypid = p_type
$$;

-- Whoever owns a type can give it casts and checks, and these run wherever its values are
-- written as text or stored. A cast cannot be qualified, and may be made at any time.
CREATE FUNCTION pgstream._require_trusted_type(p_type oid) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    stranger record;
BEGIN
    SELECT t.oid, coalesce(c.relkind, '') IN ('r', 'p', 'm', 'v', 'f') AS is_row,
           CASE t.typtype WHEN 'd' THEN 'DOMAIN' ELSE 'TYPE' END AS kind
      INTO stranger
      FROM pgstream._types_inside(p_type) inside
      JOIN pg_type t ON t.oid = inside
      LEFT JOIN pg_class c ON c.oid = t.typrelid
     WHERE t.typnamespace <> 'pg_catalog'::regnamespace AND NOT pgstream._is_trusted(t.typowner)
     LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PS009',
            MESSAGE = format('the type %s does not belong to role %I, which runs pgstream',
                             stranger.oid::regtype, pgstream._runner()),
            DETAIL = 'Its owner can give it casts and checks, which would run with the rights of '
                     'that role.',
            HINT = CASE WHEN stranger.is_row THEN 'Read the columns, not the row as a whole.'
                        ELSE format('ALTER %s %s OWNER TO %I', stranger.kind,
                                    stranger.oid::regtype, pgstream._runner()) END;
    END IF;
    PERFORM pgstream._require_trusted_function(f)
       FROM pgstream._types_inside(p_type) inside
      CROSS JOIN LATERAL pgstream._domain_functions(inside) f;
END
$$;

-- The types in a view's trees, but for PostgreSQL's own. Every number there is looked at: one
-- that is the type's by chance does no harm unless that type is a stranger's.
CREATE FUNCTION pgstream._types(p_view oid) RETURNS SETOF oid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT DISTINCT t.oid
      FROM pgstream._trees(p_view) tree
     CROSS JOIN LATERAL regexp_matches(tree, '\m\d{5,10}\M', 'g') m
      JOIN pg_type t ON t.oid::text = m[1]
$$;

CREATE OR REPLACE FUNCTION pgstream._check_function_rights(p_view oid, p_caller oid)
RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    fn oid;
BEGIN
    FOR fn IN SELECT DISTINCT f.fn FROM pgstream._functions(p_view) f LOOP
        IF NOT has_function_privilege(p_caller, fn, 'EXECUTE') THEN
            RAISE EXCEPTION USING ERRCODE = 'PS009',
                MESSAGE = format('permission denied for function %s', fn::regprocedure);
        END IF;
        IF (SELECT pronamespace = pg_my_temp_schema() FROM pg_proc WHERE oid = fn) THEN
            RAISE EXCEPTION USING ERRCODE = 'PS015',
                MESSAGE = format('a stream table cannot use the temporary function %s',
                                 fn::regprocedure),
                HINT = 'Create the function in an ordinary schema.';
        END IF;
        PERFORM pgstream._require_trusted_function(fn);
    END LOOP;
    PERFORM pgstream._require_trusted_type(t) FROM pgstream._types(p_view) t;
END
$$;

-- A stored query is parsed again at each refresh. By then somebody may have made a function or an
-- operator of the same qualified name that fits better, so all of that name are looked at.
CREATE FUNCTION pgstream._require_trusted_names(p_id bigint) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pgstream._require_trusted_function(p.oid)
       FROM pgstream.pgs_stream_tables t
      CROSS JOIN unnest(t.functions_used) used(name)
      CROSS JOIN LATERAL parse_ident(used.name) part
       JOIN pg_namespace n ON n.nspname = part[1]
       JOIN pg_proc p ON p.pronamespace = n.oid AND p.proname = part[2]
      WHERE t.pgs_id = p_id AND used.name LIKE '%.%';
    PERFORM pgstream._require_trusted_function(o.oprcode)
       FROM (SELECT defining_query FROM pgstream.pgs_stream_tables WHERE pgs_id = p_id
             UNION ALL
             SELECT definition FROM pgstream.pgs_dependencies WHERE pgs_id = p_id) query(text)
      CROSS JOIN LATERAL regexp_matches(query.text, 'OPERATOR\(([^().]+)\.([^()."]+)\)', 'g') m
       JOIN pg_namespace n ON n.nspname = (parse_ident(m[1]))[1]
       JOIN pg_operator o ON o.oprnamespace = n.oid AND o.oprname = m[2];
END
$$;

-- The operators in a view's trees that are not PostgreSQL's own.
CREATE FUNCTION pgstream._foreign_operators(p_view oid) RETURNS oid[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT ARRAY(
        SELECT DISTINCT o.oid
          FROM pgstream._trees(p_view) tree
         CROSS JOIN LATERAL regexp_matches(tree, ':opnos? (?:\(o )?([\d ]+)', 'g') m
         CROSS JOIN LATERAL string_to_table(btrim(m[1]), ' ') number
          JOIN pg_operator o ON o.oid = number::oid
         WHERE o.oprnamespace <> 'pg_catalog'::regnamespace
         ORDER BY 1)
$$;

-- SQL has no place for the schema of the operator behind IS DISTINCT FROM, NULLIF, CASE x WHEN or
-- USING. Printed and parsed again, they would mean PostgreSQL's own.
CREATE FUNCTION pgstream._check_printable(p_view oid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
DECLARE
    each_view oid;
    lost text;
BEGIN
    FOR each_view IN SELECT v FROM pgstream._views(p_view) v
                      WHERE pgstream._foreign_operators(v) <> '{}' LOOP
        DROP VIEW IF EXISTS pg_temp.__pgs_again;
        EXECUTE 'CREATE TEMPORARY VIEW __pgs_again AS ' || pgstream._view_text(each_view);
        SELECT min(o::regoperator::text) INTO lost
          FROM unnest(pgstream._foreign_operators(each_view)) o
         WHERE NOT o = ANY (pgstream._foreign_operators('pg_temp.__pgs_again'::regclass));
        DROP VIEW pg_temp.__pgs_again;
        IF lost IS NOT NULL THEN
            RAISE EXCEPTION USING ERRCODE = 'PS015',
                MESSAGE = format('the operator %s is used where its schema cannot be named', lost),
                DETAIL = 'IS DISTINCT FROM, NULLIF, CASE x WHEN y and USING take the operator '
                         'that the search path has when the query is read.',
                HINT = 'Write the comparison with the operator itself: a OPERATOR(schema.=) b.';
        END IF;
    END LOOP;
END
$$;

-- Create create_stream_table anew: the query means what it means to the caller, and everything
-- else what it means to PostgreSQL. So what runs under the caller's search path is spelled out.

CREATE FUNCTION pgstream._check_not_empty(p_query text) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF regexp_replace(coalesce(p_query, ''), '--[^\n]*|/\*.*?\*/|[\s;]', '', 'g') = '' THEN
        RAISE EXCEPTION USING ERRCODE = 'PS005', MESSAGE = 'the query is empty',
            HINT = 'Give a SELECT.';
    END IF;
END
$$;

CREATE FUNCTION pgstream._refuse_cursor(p_message text) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF p_message LIKE '%multi-query%' THEN
        RAISE EXCEPTION USING ERRCODE = 'PS006',
            MESSAGE = 'the query holds several statements',
            HINT = 'A stream table is defined by one SELECT.';
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'PS007', MESSAGE = 'the query is not a SELECT',
        DETAIL = p_message, HINT = 'A stream table is defined by one SELECT.';
END
$$;

-- Fail if "relation ... does not exist" speaks of the stream table to be created.
CREATE FUNCTION pgstream._refuse_itself(
    p_message text, p_nsp text, p_rel text, p_schemas name[])
RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF position(format('"%s.%s"', p_nsp, p_rel) IN p_message) > 0
       OR position(format('"%s"', p_rel) IN p_message) > 0 AND p_nsp = ANY (p_schemas::text[])
    THEN
        RAISE EXCEPTION USING ERRCODE = 'PS008',
            MESSAGE = format('the stream table would depend on itself: %1$I.%2$I -> %1$I.%2$I',
                             p_nsp, p_rel),
            HINT = 'For a recursive query use WITH RECURSIVE.';
    END IF;
END
$$;

DROP FUNCTION pgstream._is_itself(text, text, text);

-- Fail unless the query is one SELECT that the caller may run. It is planned, but does not run.
CREATE OR REPLACE FUNCTION pgstream._check_query(p_query text, p_nsp text, p_rel text)
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    cur pg_catalog.refcursor;
    message pg_catalog.text;
BEGIN
    OPEN cur FOR EXECUTE p_query;
    CLOSE cur;
EXCEPTION
    WHEN invalid_cursor_definition THEN
        GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
        PERFORM pgstream._refuse_cursor(message);
    WHEN undefined_table THEN
        GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
        PERFORM pgstream._refuse_itself(
            message, p_nsp, p_rel, pg_catalog.current_schemas(false));
        RAISE;
END
$$;

-- The statements that make a view of the query. In parentheses it is one SELECT or an error, so
-- nothing has to be planned to know. What may follow it is cut off: semicolons, comments.
CREATE FUNCTION pgstream._probes(p_query text) RETURNS text[]
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT array_agg(format(E'CREATE TEMPORARY VIEW __pgs_probe AS (%s\n)', spelling))
      FROM (VALUES (p_query),
                   (rtrim(p_query, E'; \n\r\t')),
                   (regexp_replace(p_query, '(\s|;|--[^\n]*|/\*([^*]|\*[^/])*\*/)*$', ''))) v(spelling)
$$;

-- The query as a temporary view, which the caller drops; NULL if it cannot be one. A query is
-- parsed before it is planned, because planning may call functions, which are not checked yet.
CREATE FUNCTION pgstream._parsed(p_query text) RETURNS oid
LANGUAGE plpgsql AS $$
DECLARE
    probe pg_catalog.text;
BEGIN
    FOREACH probe IN ARRAY pgstream._probes(p_query) LOOP
        BEGIN
            EXECUTE probe;
            RETURN 'pg_temp.__pgs_probe'::pg_catalog.regclass;
        EXCEPTION WHEN OTHERS THEN
            NULL;  -- _check_query tells what is wrong
        END;
    END LOOP;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION pgstream._probe(p_query text) RETURNS oid
LANGUAGE plpgsql AS $$
DECLARE
    message pg_catalog.text;
BEGIN
    EXECUTE pg_catalog.concat('CREATE TEMPORARY VIEW __pgs_probe AS ', p_query);
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

-- Whose query it is, from the view that was made of it.
CREATE FUNCTION pgstream._creator(p_view oid) RETURNS oid
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    caller oid := (SELECT relowner FROM pg_class WHERE oid = p_view AND relkind = 'v'
                      AND relnamespace = pg_my_temp_schema());
BEGIN
    IF caller IS NULL OR NOT pg_has_role(session_user, caller, 'MEMBER') THEN
        RAISE EXCEPTION USING ERRCODE = 'PS009',
            MESSAGE = 'the session may not create stream tables for this role',
            HINT = 'Call pgstream.create_stream_table as yourself.';
    END IF;
    RETURN caller;
END
$$;

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
    PERFORM pgstream._check_shape(p_view);
    PERFORM pgstream._check_rights(p_view, caller);
    PERFORM pgstream._check_printable(p_view);
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

CREATE OR REPLACE FUNCTION pgstream.create_stream_table(
    name text,
    query text,
    schedule text DEFAULT '1m',
    refresh_mode text DEFAULT 'DIFFERENTIAL',
    initialize bool DEFAULT true)
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    caller pg_catalog.oid := (SELECT r.oid FROM pg_catalog.pg_roles r
                               WHERE r.rolname OPERATOR(pg_catalog.=) current_user);
    nsp pg_catalog.text;
    rel pg_catalog.text;
    probe pg_catalog.oid;
BEGIN
    SELECT t.nsp, t.rel INTO nsp, rel FROM pgstream._check_target(name, caller) t;
    PERFORM pgstream._check_schedule(schedule);
    PERFORM pgstream._check_mode(refresh_mode);
    PERFORM pgstream._check_not_empty(query);
    probe := pgstream._parsed(query);
    IF probe IS NOT NULL THEN
        PERFORM pgstream._check_function_rights(probe, caller);
    END IF;
    PERFORM pgstream._check_query(query, nsp, rel);
    PERFORM pgstream._register(
        coalesce(probe, pgstream._probe(query)), name, query, schedule, refresh_mode, initialize);
    DROP VIEW pg_temp.__pgs_probe;
END
$$;

-- These need nothing of the caller's search path.
ALTER FUNCTION pgstream.alter_stream_table(text, text, text, text)
    SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION pgstream.drop_stream_table(text) SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION pgstream.refresh_stream_table(text) SET search_path = pg_catalog, pg_temp;
