-- Create the lock classes, the error codes and the checks of names, schedules, modes and rights.

-- Errors have SQLSTATEs of their own. Those of PostgreSQL (syntax, unknown names, types,
-- rights) pass unchanged, with their position.
--
--   PS001  bad name                   PS011  no such stream table
--   PS002  the name is taken          PS012  the stream table is suspended
--   PS003  bad schedule               PS013  no worker is alive
--   PS004  bad refresh mode           PS014  timeout of a wait
--   PS005  empty query                PS015  a source that cannot be read
--   PS006  several statements         PS016  the refresh failed
--   PS007  not a SELECT               PS017  bad status
--   PS008  cycle                      PS018  bad column
--   PS009  permission denied          PS019  direct change of a stream table
--   PS010  others read it             PS020  the transaction cannot wait for a worker
--                                     PS021  a function is volatile

-- Classes of advisory locks with two keys. The second key is pgs_id, 0 for the worker.
-- Worker: shared, session; a worker is alive.
CREATE FUNCTION pgstream._worker_lock() RETURNS int LANGUAGE sql IMMUTABLE
    AS 'SELECT 1885827073';
-- Refresh: exclusive, transaction; a refresh or a drop is under way.
CREATE FUNCTION pgstream._refresh_lock() RETURNS int LANGUAGE sql IMMUTABLE
    AS 'SELECT 1885827074';
-- Hand: shared, session; somebody asks for a refresh.
CREATE FUNCTION pgstream._hand_lock() RETURNS int LANGUAGE sql IMMUTABLE
    AS 'SELECT 1885827075';
-- Source: exclusive, transaction; the capture of a source is being changed.
CREATE FUNCTION pgstream._source_lock() RETURNS int LANGUAGE sql IMMUTABLE
    AS 'SELECT 1885827076';

-- The quoted, qualified name of a relation, or its number if it is gone.
CREATE FUNCTION pgstream._relation_name(p_relid oid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(
        (SELECT format('%I.%I', n.nspname, c.relname)
           FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE c.oid = p_relid),
        format('(dropped relation %s)', p_relid))
$$;

CREATE FUNCTION pgstream._parse_name(p_name text, OUT nsp text, OUT rel text)
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    parts text[];
BEGIN
    BEGIN
        parts := parse_ident(p_name);
    EXCEPTION WHEN invalid_parameter_value THEN
        parts := NULL;
    END;
    IF parts IS NULL OR cardinality(parts) > 2 THEN
        RAISE EXCEPTION USING ERRCODE = 'PS001',
            MESSAGE = format('%s is not the name of a stream table', quote_nullable(p_name)),
            HINT = 'Write name or schema.name; put special characters in double quotes.';
    END IF;
    rel := parts[cardinality(parts)];
    nsp := CASE cardinality(parts) WHEN 2 THEN parts[1] ELSE 'public' END;
    IF greatest(octet_length(nsp), octet_length(rel)) > 63 THEN
        RAISE EXCEPTION USING ERRCODE = 'PS001',
            MESSAGE = format('the name %s is too long', quote_literal(p_name)),
            HINT = 'PostgreSQL allows 63 bytes.';
    END IF;
END
$$;

-- The seconds of a duration such as '1h30m'; NULL if it is not one.
CREATE FUNCTION pgstream._duration_seconds(p_text text) RETURNS bigint
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT sum(coalesce(m[i], '0')::bigint * (ARRAY[604800, 86400, 3600, 60, 1])[i])::bigint
      FROM regexp_match(p_text,
               '^(?:(\d{1,9})w)?(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?$') m,
           generate_series(1, 5) i
     WHERE p_text <> '' AND m IS NOT NULL
$$;

CREATE FUNCTION pgstream._duration(p_text text) RETURNS interval
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT make_interval(secs => pgstream._duration_seconds(p_text))
$$;

CREATE FUNCTION pgstream._is_cron_field(p_field text, p_low int, p_high int) RETURNS bool
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT bool_and(
        item ~ '^(\*|\?|\d{1,2}|\d{1,2}-\d{1,2}|[a-z]{3}|[a-z]{3}-[a-z]{3})(/[1-9]\d{0,2})?$'
        AND NOT EXISTS (
            SELECT FROM regexp_matches(split_part(item, '/', 1), '\d+', 'g') number
             WHERE number[1]::int NOT BETWEEN p_low AND p_high)
        AND NOT EXISTS (
            SELECT FROM regexp_matches(item, '[a-z]+', 'g') word
             WHERE NOT word[1] = ANY (CASE (p_low, p_high)
                 WHEN (1, 12) THEN ARRAY['jan', 'feb', 'mar', 'apr', 'may', 'jun',
                                         'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
                 WHEN (0, 7) THEN ARRAY['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
                 ELSE ARRAY[]::text[] END)))
      FROM regexp_split_to_table(lower(p_field), ',') item
$$;

CREATE FUNCTION pgstream._is_cron(p_text text) RETURNS bool
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    fields text[] := regexp_split_to_array(btrim(p_text), '\s+');
    lows   int[] := ARRAY[0, 0, 0, 1, 1, 0];  -- sec min hour dom mon dow
    highs  int[] := ARRAY[59, 59, 23, 31, 12, 7];
    skip   int := 6 - cardinality(fields);
BEGIN
    IF lower(btrim(p_text)) IN ('@hourly', '@daily', '@midnight', '@weekly', '@monthly',
                                '@yearly', '@annually') THEN
        RETURN true;
    END IF;
    IF skip NOT IN (0, 1) THEN
        RETURN false;
    END IF;
    FOR i IN 1 .. cardinality(fields) LOOP
        IF NOT pgstream._is_cron_field(fields[i], lows[i + skip], highs[i + skip]) THEN
            RETURN false;
        END IF;
    END LOOP;
    RETURN true;
END
$$;

-- The schedule as it is stored; NULL is CALCULATED.
CREATE FUNCTION pgstream._check_schedule(p_text text) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    seconds bigint := pgstream._duration_seconds(btrim(p_text));
    least_seconds bigint := coalesce(substring(
        current_setting('pg_stream.min_schedule_seconds', true) FROM '^\d{1,9}$')::bigint, 60);
BEGIN
    IF p_text IS NULL OR upper(btrim(p_text)) = 'CALCULATED' THEN
        RETURN NULL;
    END IF;
    IF seconds IS NULL AND NOT pgstream._is_cron(p_text) THEN
        RAISE EXCEPTION USING ERRCODE = 'PS003',
            MESSAGE = format('%s is neither a duration nor a cron expression',
                             quote_literal(p_text)),
            HINT = 'Examples: ''5m'', ''1h30m'' (units w d h m s, in this order), '
                   '''*/5 * * * *'', ''@hourly'', ''CALCULATED''.';
    END IF;
    IF seconds < greatest(least_seconds, 1) THEN
        RAISE EXCEPTION USING ERRCODE = 'PS003',
            MESSAGE = format('the schedule %s is shorter than the minimum of %s s',
                             quote_literal(p_text), greatest(least_seconds, 1)),
            HINT = 'Choose a longer one, or lower pg_stream.min_schedule_seconds.';
    END IF;
    RETURN btrim(p_text);
END
$$;

CREATE FUNCTION pgstream._check_mode(p_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF upper(btrim(p_text)) IN ('FULL', 'DIFFERENTIAL', 'AUTO') THEN
        RETURN upper(btrim(p_text));
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'PS004',
        MESSAGE = format('%s is not a refresh mode', quote_nullable(p_text)),
        HINT = 'Use DIFFERENTIAL, FULL or AUTO.';
END
$$;

-- The schema and name of a new stream table, which p_caller may create there.
CREATE FUNCTION pgstream._check_target(p_name text, p_caller oid, OUT nsp text, OUT rel text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    nsp_oid oid;
BEGIN
    SELECT p.nsp, p.rel INTO nsp, rel FROM pgstream._parse_name(p_name) p;
    SELECT oid INTO nsp_oid FROM pg_namespace WHERE nspname = nsp;
    IF nsp_oid IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PS001',
            MESSAGE = format('schema "%s" does not exist', nsp),
            HINT = format('CREATE SCHEMA %I', nsp);
    END IF;
    IF nsp ~ '^(pg_|pgstream$|pgstream_changes$|pgstream_state$|information_schema$)' THEN
        RAISE EXCEPTION USING ERRCODE = 'PS001',
            MESSAGE = format('schema "%s" is reserved', nsp),
            HINT = 'Create the stream table in a schema of your own.';
    END IF;
    IF NOT has_schema_privilege(p_caller, nsp_oid, 'CREATE') THEN
        RAISE EXCEPTION USING ERRCODE = 'PS009',
            MESSAGE = format('permission denied for schema %s', nsp),
            HINT = format('GRANT CREATE ON SCHEMA %I TO %s', nsp, p_caller::regrole);
    END IF;
    IF EXISTS (SELECT FROM pg_class WHERE relnamespace = nsp_oid AND relname = rel) THEN
        RAISE EXCEPTION USING ERRCODE = 'PS002',
            MESSAGE = format('relation "%s.%s" already exists', nsp, rel),
            HINT = 'Choose another name, or drop what has it.';
    END IF;
END
$$;

CREATE FUNCTION pgstream._resolve(p_name text) RETURNS bigint
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    wanted record;
    found_id bigint;
    elsewhere text;
BEGIN
    SELECT * INTO wanted FROM pgstream._parse_name(p_name);
    SELECT pgs_id INTO found_id FROM pgstream.pgs_stream_tables
     WHERE pgs_schema = wanted.nsp AND pgs_name = wanted.rel;
    IF found_id IS NULL THEN
        SELECT string_agg(format('%I.%I', pgs_schema, pgs_name), ', ' ORDER BY pgs_schema)
          INTO elsewhere FROM pgstream.pgs_stream_tables WHERE pgs_name = wanted.rel;
        RAISE EXCEPTION USING ERRCODE = 'PS011',
            MESSAGE = format('there is no stream table %I.%I', wanted.nsp, wanted.rel),
            HINT = coalesce('Did you mean ' || elsewhere || '?',
                            'SELECT name FROM pgstream.pgs_status() lists them.');
    END IF;
    RETURN found_id;
END
$$;

-- Fail unless p_caller, for whom the session may speak, owns the stream table or pgstream.
CREATE FUNCTION pgstream._require_owner(p_id bigint, p_caller name) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    st pgstream.pgs_stream_tables;
BEGIN
    SELECT * INTO st FROM pgstream.pgs_stream_tables WHERE pgs_id = p_id;
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = p_caller)
       AND pg_has_role(session_user, p_caller, 'MEMBER')
       AND EXISTS (
           SELECT FROM pg_roles r
            WHERE (r.rolname = st.owner_role
                   OR r.oid = (SELECT nspowner FROM pg_namespace WHERE nspname = 'pgstream'))
              AND pg_has_role(p_caller, r.oid, 'MEMBER')) THEN
        RETURN;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'PS009',
        MESSAGE = format('must be owner of stream table %I.%I', st.pgs_schema, st.pgs_name),
        HINT = format('GRANT %I TO %I', st.owner_role, p_caller);
END
$$;

CREATE FUNCTION pgstream._worker_alive() RETURNS bool
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM pg_locks
         WHERE locktype = 'advisory' AND granted AND objsubid = 2
           AND classid = pgstream._worker_lock()::oid AND objid = 0
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
$$;
