-- Fail on what no stream table may have: operators that return rows,
-- aggregates whose name is a function's, system columns, reserved names, no columns.
CREATE OR REPLACE FUNCTION pgstream._check_shape(p_view oid) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    reserved text;
    aggregate text;
BEGIN
    IF pgstream._tree_has(p_view, ':opretset true') THEN
        RAISE EXCEPTION USING ERRCODE = 'PS015',
            MESSAGE = 'an operator that returns rows is not supported',
            HINT = 'Call its function in FROM.';
    END IF;
    SELECT p.oid::regprocedure::text INTO aggregate
      FROM pgstream._functions(p_view) used JOIN pg_proc p ON p.oid = used.fn
     WHERE p.prokind = 'a' AND p.pronamespace <> 'pg_catalog'::regnamespace
       AND EXISTS (SELECT FROM pg_proc other
                    WHERE other.pronamespace = p.pronamespace AND other.proname = p.proname
                      AND other.prokind <> 'a') LIMIT 1;
    IF aggregate IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PS015',
            MESSAGE = format('the name of the aggregate %s is that of a function, too', aggregate),
            HINT = 'Rename one of them: ALTER AGGREGATE ... RENAME TO.';
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

GRANT EXECUTE ON FUNCTION pgstream._check_shape(oid) TO PUBLIC;
