-- Create or replace the trigger function that fills the buffer of a source.
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

REVOKE ALL ON FUNCTION pgstream._create_capture_function(oid) FROM PUBLIC;
