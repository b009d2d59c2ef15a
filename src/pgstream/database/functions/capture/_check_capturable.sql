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

GRANT EXECUTE ON FUNCTION pgstream._check_capturable(oid) TO PUBLIC;
