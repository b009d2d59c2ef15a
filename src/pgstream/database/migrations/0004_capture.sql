-- Create the functions that install and remove the capture of a source's changes.

-- The type of a column as a buffer stores it: a domain's base type, because a domain may
-- refuse the NULLs of a TRUNCATE marker.
CREATE FUNCTION pgstream._stored_type(p_type oid, p_typmod int) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE chain(type, typmod, depth) AS (
        SELECT p_type, p_typmod, 0
        UNION ALL
        SELECT t.typbasetype, CASE WHEN t.typtypmod >= 0 THEN t.typtypmod ELSE c.typmod END,
               c.depth + 1
          FROM chain c JOIN pg_type t ON t.oid = c.type
         WHERE t.typtype = 'd')
    SELECT format_type(type, typmod) FROM chain ORDER BY depth DESC LIMIT 1
$$;

-- The live columns of a relation. `value` computes the column from a row called n: a virtual
-- generated column (PostgreSQL 18) is NULL in a transition table, so its expression stands for it.
CREATE FUNCTION pgstream._source_columns(
    p_relid oid, OUT name name, OUT type text, OUT definition text, OUT value text)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT a.attname,
           s.type,
           format('%I %s', a.attname, s.type)
               || CASE WHEN a.attcollation NOT IN (0, t.typcollation)
                       THEN format(' COLLATE %I.%I', cn.nspname, co.collname) ELSE '' END,
           CASE WHEN a.attgenerated = 'v' THEN '(' || pg_get_expr(d.adbin, d.adrelid) || ')'
                ELSE format('n.%I', a.attname) END
      FROM pg_attribute a
      JOIN pg_type t ON t.oid = a.atttypid
      LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      LEFT JOIN pg_collation co ON co.oid = a.attcollation
      LEFT JOIN pg_namespace cn ON cn.oid = co.collnamespace
     CROSS JOIN LATERAL pgstream._stored_type(a.atttypid, a.atttypmod) s(type)
     WHERE a.attrelid = p_relid AND a.attnum > 0 AND NOT a.attisdropped
     ORDER BY a.attnum
$$;

CREATE FUNCTION pgstream._source_columns_json(p_relid oid) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_object('name', c.name, 'type', c.type)
                              ORDER BY c.ordinality), '[]')
      FROM pgstream._source_columns(p_relid)
           WITH ORDINALITY c(name, type, definition, value, ordinality)
$$;

-- Fail if no stream table may read this relation. What a relation is decides; rights do not.
CREATE FUNCTION pgstream._check_readable(p_relid oid) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    rel record;
    problem text;
    way_out text;
BEGIN
    SELECT c.relkind, c.relpersistence, c.relrowsecurity, n.nspname INTO rel
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = p_relid;
    IF NOT FOUND THEN
        problem := 'does not exist';
    ELSIF rel.nspname IN ('pg_catalog', 'information_schema', 'pg_toast') THEN
        problem := 'is a system catalog';
        way_out := 'Copy what you need into a table.';
    ELSIF rel.nspname IN ('pgstream', 'pgstream_changes', 'pgstream_state') THEN
        problem := 'belongs to pgstream';
        way_out := 'Query it directly.';
    ELSIF rel.relpersistence = 't' THEN
        problem := 'is a temporary table';
        way_out := 'Use an ordinary table: a temporary one is seen by its own session only.';
    ELSIF rel.relrowsecurity THEN
        problem := 'has row security';
        way_out := 'The stream table would show its rows to every reader. Read a table without '
                   'row security.';
    ELSIF rel.relkind NOT IN ('r', 'p', 'v', 'm', 'f') THEN
        problem := 'is not a table';
        way_out := 'Read a table.';
    ELSE
        RETURN;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'PS015',
        MESSAGE = format('a stream table cannot read %s: it %s',
                         pgstream._relation_name(p_relid), problem),
        HINT = coalesce(way_out, '');
END
$$;

-- Fail if the changes of this relation cannot be captured.
CREATE FUNCTION pgstream._check_capturable(p_relid oid) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    kind "char" := (SELECT relkind FROM pg_class WHERE oid = p_relid);
    problem text;
    way_out text;
BEGIN
    PERFORM pgstream._check_readable(p_relid);
    IF kind = 'v' THEN
        problem := 'is a view';
        way_out := 'Use the view''s query; views will be inlined in a later version.';
    ELSIF kind = 'm' THEN
        problem := 'is a materialized view';
        way_out := 'Use its query, or refresh_mode => ''FULL''.';
    ELSIF kind = 'f' THEN
        problem := 'is a foreign table';
        way_out := 'Copy it into a table, or use refresh_mode => ''FULL''.';
    ELSIF kind = 'r' AND EXISTS (SELECT FROM pg_inherits WHERE inhparent = p_relid) THEN
        problem := 'has inheritance children';
        way_out := 'Use a partitioned table, or read each table by itself with UNION ALL.';
    ELSIF EXISTS (SELECT FROM pgstream._source_columns(p_relid) c WHERE c.name LIKE '\_\_pgs\_%')
          AND NOT EXISTS (SELECT FROM pgstream.pgs_stream_tables WHERE pgs_relid = p_relid) THEN
        problem := 'has a column whose name starts with __pgs_';
        way_out := 'Rename the column.';
    ELSE
        RETURN;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'PS015',
        MESSAGE = format('the changes of %s cannot be captured: it %s',
                         pgstream._relation_name(p_relid), problem),
        HINT = way_out;
END
$$;

-- Fail unless the current role has a right on the relation, and USAGE on its schema.
CREATE FUNCTION pgstream._require_right(p_relid oid, p_right text) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    nsp oid := (SELECT relnamespace FROM pg_class WHERE oid = p_relid);
BEGIN
    IF NOT has_schema_privilege(nsp, 'USAGE') THEN
        RAISE EXCEPTION USING ERRCODE = 'PS009',
            MESSAGE = format('role %I, which runs pgstream, may not use schema %s',
                             current_user, nsp::regnamespace),
            HINT = format('GRANT USAGE ON SCHEMA %s TO %I', nsp::regnamespace, current_user);
    END IF;
    IF NOT has_table_privilege(p_relid, p_right) THEN
        RAISE EXCEPTION USING ERRCODE = 'PS009',
            MESSAGE = format('role %I, which runs pgstream, lacks %s on %s',
                             current_user, p_right, pgstream._relation_name(p_relid)),
            HINT = format('GRANT %s ON %s TO %I', p_right, pgstream._relation_name(p_relid),
                          current_user);
    END IF;
END
$$;

-- Statement triggers with transition tables are the fast way. They see only statements that
-- name their table, so a table that is written through a parent, and a partitioned table, which
-- is written through its partitions, need row triggers.
CREATE FUNCTION pgstream._needs_row_triggers(p_relid oid) RETURNS bool
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT relkind = 'p' OR EXISTS (SELECT FROM pg_inherits WHERE inhrelid = p_relid)
      FROM pg_class WHERE oid = p_relid
$$;

CREATE FUNCTION pgstream._create_buffer(p_relid oid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    buffer text := format('pgstream_changes.changes_%s', p_relid);
BEGIN
    EXECUTE format(
        'CREATE TABLE %s ('
        '    __pgs_change_id bigserial,'
        '    __pgs_xid xid8 NOT NULL DEFAULT pg_current_xact_id(),'
        '    __pgs_lsn pg_lsn DEFAULT pg_current_wal_insert_lsn(),'
        '    __pgs_action char(1) NOT NULL,'
        '    __pgs_weight smallint NOT NULL%s)',
        buffer,
        (SELECT string_agg(', ' || c.definition, '') FROM pgstream._source_columns(p_relid) c));
    EXECUTE format('CREATE INDEX ON %s (__pgs_xid)', buffer);
END
$$;

CREATE FUNCTION pgstream._create_capture_function(p_relid oid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    by_row bool := pgstream._needs_row_triggers(p_relid);
    template text := $template$
#variable_conflict use_column
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO <buffer> (__pgs_action, __pgs_weight<columns>)
        SELECT 'I', 1<values> FROM <new> n;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO <buffer> (__pgs_action, __pgs_weight<columns>)
        SELECT 'D', -1<values> FROM <old> n;
    ELSIF TG_OP = 'UPDATE' THEN
        INSERT INTO <buffer> (__pgs_action, __pgs_weight<columns>)
        SELECT 'U', -1<values> FROM <old> n
        UNION ALL
        SELECT 'U', 1<values> FROM <new> n;
    ELSE
        INSERT INTO <buffer> (__pgs_action, __pgs_weight) VALUES ('T', 0);
    END IF;
    RETURN NULL;
END
$template$;
    parts text[];
    body text := '';
    columns text;
    vals text;
BEGIN
    SELECT coalesce(string_agg(format(', %I', c.name), ''), ''),
           coalesce(string_agg(', ' || c.value, ''), '')
      INTO columns, vals FROM pgstream._source_columns(p_relid) c;
    -- Split first and fill in afterwards: a column name may contain what looks like a mark.
    parts := string_to_array(replace(replace(template, '<', E'\x01'), '>', E'\x01'), E'\x01');
    FOR i IN 1 .. cardinality(parts) LOOP
        body := body || CASE WHEN i % 2 = 1 THEN parts[i] ELSE
            CASE parts[i]
                WHEN 'buffer' THEN format('pgstream_changes.changes_%s', p_relid)
                WHEN 'columns' THEN columns
                WHEN 'values' THEN vals
                WHEN 'new' THEN CASE WHEN by_row THEN '(SELECT NEW.*)' ELSE '__pgs_new' END
                WHEN 'old' THEN CASE WHEN by_row THEN '(SELECT OLD.*)' ELSE '__pgs_old' END
            END END;
    END LOOP;
    EXECUTE format(
        'CREATE FUNCTION pgstream_changes.capture_%s() RETURNS trigger LANGUAGE plpgsql '
        'SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS %L', p_relid, body);
    EXECUTE format('REVOKE ALL ON FUNCTION pgstream_changes.capture_%s() FROM PUBLIC', p_relid);
END
$$;

-- Create the triggers that are missing; tells how many. A name carries the source's oid, because
-- a partition may have the triggers of its parent beside its own.
CREATE FUNCTION pgstream._create_triggers(p_relid oid) RETURNS int
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    by_row bool := pgstream._needs_row_triggers(p_relid);
    wanted record;
    created int := 0;
BEGIN
    FOR wanted IN
        SELECT p_relid AS relid, event, referencing
          FROM (VALUES ('INSERT', 'REFERENCING NEW TABLE AS __pgs_new'),
                       ('UPDATE', 'REFERENCING OLD TABLE AS __pgs_old NEW TABLE AS __pgs_new'),
                       ('DELETE', 'REFERENCING OLD TABLE AS __pgs_old')) v(event, referencing)
        UNION ALL
        -- PostgreSQL clones row triggers to partitions, but not this one.
        SELECT p_relid, 'TRUNCATE', NULL
        UNION ALL
        SELECT relid, 'TRUNCATE', NULL FROM pg_partition_tree(p_relid) WHERE relid <> p_relid
    LOOP
        CONTINUE WHEN EXISTS (
            SELECT FROM pg_trigger
             WHERE tgrelid = wanted.relid
               AND tgname = format('__pgs_capture_%s_%s', lower(wanted.event), p_relid));
        PERFORM pgstream._require_right(wanted.relid, 'TRIGGER');
        EXECUTE format(
            'CREATE TRIGGER __pgs_capture_%s_%s AFTER %s ON %s %s EXECUTE FUNCTION %s',
            lower(wanted.event), p_relid, wanted.event, pgstream._relation_name(wanted.relid),
            CASE WHEN wanted.event = 'TRUNCATE' THEN 'FOR EACH STATEMENT'
                 WHEN by_row THEN 'FOR EACH ROW'
                 ELSE wanted.referencing || ' FOR EACH STATEMENT' END,
            format('pgstream_changes.capture_%s()', p_relid));
        created := created + 1;
    END LOOP;
    RETURN created;
END
$$;

CREATE FUNCTION pgstream._lock_source(p_relid oid) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    -- An oid has no sign, an int has.
    SELECT pg_advisory_xact_lock(pgstream._source_lock(), (p_relid::bigint - 2147483648)::int)
$$;

-- Remove the capture of a source, which may be gone already. Dropping the function drops its
-- triggers too; DROP TRIGGER would need a right of the table's owner.
CREATE FUNCTION pgstream._remove_capture(relid oid) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
DECLARE
    source oid := relid;
BEGIN
    PERFORM pgstream._lock_source(source);
    EXECUTE format('DROP FUNCTION IF EXISTS pgstream_changes.capture_%s() CASCADE', source);
    EXECUTE format('DROP TABLE IF EXISTS pgstream_changes.changes_%s CASCADE', source);
    DELETE FROM pgstream.pgs_change_tracking WHERE source_relid = source;
END
$$;

-- Make sure that the changes of a source are captured, in its present shape. If its columns or
-- triggers changed meanwhile, changes may be lost: those who read it must start anew.
-- The worker writes the buffer of a stream table, so that has no triggers.
CREATE FUNCTION pgstream._install_capture(relid oid) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    source oid := relid;
    is_stream_table bool := EXISTS (
        SELECT FROM pgstream.pgs_stream_tables WHERE pgs_relid = source);
    tracked pgstream.pgs_change_tracking;
    created int := 0;
BEGIN
    PERFORM pgstream._lock_source(source);
    PERFORM pgstream._check_capturable(source);
    PERFORM pgstream._require_right(source, 'SELECT');
    IF NOT is_stream_table THEN
        PERFORM pgstream._require_right(source, 'TRIGGER');
    END IF;

    SELECT * INTO tracked FROM pgstream.pgs_change_tracking WHERE source_relid = source;
    IF tracked.columns IS DISTINCT FROM pgstream._source_columns_json(source) THEN
        PERFORM pgstream._remove_capture(source);
        PERFORM pgstream._create_buffer(source);
        IF NOT is_stream_table THEN
            PERFORM pgstream._create_capture_function(source);
        END IF;
        INSERT INTO pgstream.pgs_change_tracking (source_relid, tracked_by_pgs_ids, columns)
        VALUES (source, coalesce(tracked.tracked_by_pgs_ids, '{}'),
                pgstream._source_columns_json(source));
        created := 1;
    END IF;
    IF NOT is_stream_table THEN
        created := created + pgstream._create_triggers(source);
    END IF;
    IF created > 0 THEN
        UPDATE pgstream.pgs_stream_tables SET needs_reinit = true
         WHERE pgs_id = ANY (tracked.tracked_by_pgs_ids);
    END IF;
END
$$;

-- Capture every source of a stream table.
CREATE FUNCTION pgstream._track(p_id bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    source oid;
BEGIN
    -- In one order, so that two sessions do not wait for each other.
    FOR source IN SELECT source_relid FROM pgstream.pgs_dependencies
                   WHERE pgs_id = p_id ORDER BY source_relid LOOP
        PERFORM pgstream._install_capture(source);
        UPDATE pgstream.pgs_change_tracking
           SET tracked_by_pgs_ids = tracked_by_pgs_ids || p_id
         WHERE source_relid = source AND NOT p_id = ANY (tracked_by_pgs_ids);
    END LOOP;
END
$$;

-- Stop reading the changes of every source; those that nobody else reads are no longer captured.
CREATE FUNCTION pgstream._untrack(p_id bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    source oid;
    readers bigint[];
BEGIN
    FOR source IN SELECT source_relid FROM pgstream.pgs_change_tracking
                   WHERE p_id = ANY (tracked_by_pgs_ids) ORDER BY source_relid LOOP
        PERFORM pgstream._lock_source(source);
        UPDATE pgstream.pgs_change_tracking
           SET tracked_by_pgs_ids = array_remove(tracked_by_pgs_ids, p_id)
         WHERE source_relid = source RETURNING tracked_by_pgs_ids INTO readers;
        IF readers = '{}' THEN
            PERFORM pgstream._remove_capture(source);
        END IF;
    END LOOP;
END
$$;
