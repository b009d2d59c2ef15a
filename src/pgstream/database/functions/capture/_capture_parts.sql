-- What the body of a capture function is filled with: names, values, and the conditions under which
-- a row has the shape that the function knows and is in a table that it knows. `n` is the row, `o`
-- the one before an update. A statement may have rows of children that came since the function was
-- made, and that may be gone at the next refresh: then nobody could tell whose these were.
CREATE OR REPLACE FUNCTION pgstream._capture_parts(p_relid oid) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH captured AS (
        SELECT coalesce(string_agg(format(', %I', name), ''), '') AS columns,
               coalesce(string_agg(', ' || value, ''), '') AS vals,
               coalesce(string_agg(format(', %s AS %I', value, name), ''), '') AS named,
               coalesce(string_agg(format(', o.%I', name), ''), '') AS old_ones,
               coalesce(string_agg(format(', n.%I', name), ''), '') AS new_ones
          FROM pgstream._captured_columns(p_relid)),
    read AS (
        SELECT coalesce(string_agg(format('pg_typeof(n.%I)::oid = %s::oid', name, type), ' AND '),
                        'true') AS known,
               coalesce(string_agg(format('pg_typeof(NEW.%I)::oid = %s::oid', name, type), ' AND '),
                        'true') AS known_new,
               coalesce(string_agg(format('pg_typeof(OLD.%I)::oid = %s::oid', name, type), ' AND '),
                        'true') AS known_old,
               string_agg(format('NEW.%1$I AS %1$I', name), ', ') AS new_fields,
               string_agg(format('OLD.%1$I AS %1$I', name), ', ') AS old_fields,
               string_agg(format('NEW.%I', name), ', ') AS new_row,
               string_agg(format('OLD.%I', name), ', ') AS old_row
          FROM pgstream._columns_to_read(p_relid))
    SELECT jsonb_build_object(
        'buffer', pgstream._buffer_name(p_relid),
        'columns', columns, 'values', vals, 'named', named,
        'o.columns', old_ones, 'n.columns', new_ones,
        'o.row', substr(old_ones, 3), 'n.row', substr(new_ones, 3),
        'rows are known', format(
            'NOT EXISTS (SELECT FROM pg_inherits WHERE inhparent = %1$s)'
            ' OR NOT EXISTS (SELECT FROM pgstream._members(%1$s) m'
            ' WHERE m <> ALL (%2$L::oid[]) AND pg_relation_size(m) <> 0)', p_relid, members),
        'table is known', format('TG_RELID = ANY (%L::oid[])', p_relid || members),
        'is known', known, 'NEW is known', known_new, 'OLD is known', known_old,
        'NEW fields', new_fields, 'OLD fields', old_fields,
        'NEW row', new_row, 'OLD row', old_row)
      FROM captured, read,
           (SELECT ARRAY(SELECT m FROM pgstream._members(p_relid) m ORDER BY m)) below(members)
$$;

GRANT EXECUTE ON FUNCTION pgstream._capture_parts(oid) TO PUBLIC;
