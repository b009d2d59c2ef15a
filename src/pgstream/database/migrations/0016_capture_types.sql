-- Capture nothing through a cast of a type that the source's owner has given to a column since.

-- The buffer keeps the types that the columns had. PostgreSQL converts what is written to another
-- type since, and the owner of a type decides how: in a capture function, with our rights.
CREATE FUNCTION pgstream._refuse_strange_types(p_relid oid) RETURNS bool
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'PS015',
        MESSAGE = format('a column of %s has got a type that its capture does not know',
                         pgstream._relation_name(p_relid)),
        HINT = format('As role %I: SELECT pgstream._install_capture(%L::regclass)',
                      pgstream._runner(), pgstream._relation_name(p_relid));
END
$$;

-- The statement that fails unless every column of the captured rows has a type of PostgreSQL's own,
-- or the type of today. It converts nothing, and comes before what does is even planned. A virtual
-- column has no type of a user's.
CREATE FUNCTION pgstream._type_check(p_relid oid, p_row text, p_by_row bool) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format(CASE WHEN p_by_row THEN 'IF (%1$s) IS FALSE THEN PERFORM %2$s; END IF;'
                       ELSE 'IF (SELECT %1$s FROM %3$I LIMIT 1) IS FALSE THEN PERFORM %2$s; '
                            'END IF;' END,
                  string_agg(format('pg_typeof(%I.%I)::oid %s::oid', p_row, attname,
                                    CASE WHEN atttypid < 16384 THEN '< 16384'
                                         ELSE '= ' || atttypid END), ' AND ' ORDER BY attnum),
                  format('pgstream._refuse_strange_types(%s)', p_relid),
                  p_row)
      FROM pg_attribute
     WHERE attrelid = p_relid AND attnum > 0 AND NOT attisdropped AND attgenerated <> 'v'
    HAVING count(*) > 0
$$;

CREATE OR REPLACE FUNCTION pgstream._create_capture_function(p_relid oid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    by_row bool := pgstream._needs_row_triggers(p_relid);
    template text := $template$
#variable_conflict use_column
BEGIN
    IF TG_OP = 'INSERT' THEN
        <check new>
        INSERT INTO <buffer> (__pgs_action, __pgs_weight<columns>)
        SELECT 'I', 1<values> FROM <new> n;
    ELSIF TG_OP = 'DELETE' THEN
        <check old>
        INSERT INTO <buffer> (__pgs_action, __pgs_weight<columns>)
        SELECT 'D', -1<values> FROM <old> n;
    ELSIF TG_OP = 'UPDATE' THEN
        <check new>
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
                WHEN 'check new' THEN coalesce(pgstream._type_check(
                    p_relid, CASE WHEN by_row THEN 'new' ELSE '__pgs_new' END, by_row), '')
                WHEN 'check old' THEN coalesce(pgstream._type_check(
                    p_relid, CASE WHEN by_row THEN 'old' ELSE '__pgs_old' END, by_row), '')
                WHEN 'buffer' THEN format('pgstream_changes.changes_%s', p_relid)
                WHEN 'columns' THEN columns
                WHEN 'values' THEN vals
                WHEN 'new' THEN CASE WHEN by_row THEN '(SELECT NEW.*)' ELSE '__pgs_new' END
                WHEN 'old' THEN CASE WHEN by_row THEN '(SELECT OLD.*)' ELSE '__pgs_old' END
            END END;
    END LOOP;
    EXECUTE format(
        'CREATE OR REPLACE FUNCTION pgstream_changes.capture_%s() RETURNS trigger '
        'LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS %L',
        p_relid, body);
    EXECUTE format('REVOKE ALL ON FUNCTION pgstream_changes.capture_%s() FROM PUBLIC', p_relid);
END
$$;

-- Those that exist, unless a source has changed since: its next installation makes it anew.
SELECT pgstream._create_capture_function(t.source_relid)
  FROM pgstream.pgs_change_tracking t
 WHERE to_regprocedure(format('pgstream_changes.capture_%s()', t.source_relid)) IS NOT NULL
   AND t.columns = pgstream._source_columns_json(t.source_relid);
