-- Do the refreshes of every stream table succeed?
CREATE OR REPLACE FUNCTION pgstream._check_stream_tables(
    OUT severity text, OUT subject text, OUT message text, OUT hint text)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN st.status = 'ERROR' OR NOT st.is_populated THEN 'error' ELSE 'warning' END,
           format('%I.%I', st.pgs_schema, st.pgs_name),
           format('%s failures in a row, status %s: %s', st.consecutive_errors, st.status,
                  split_part(coalesce(st.last_error, 'unknown'), E'\n', 1)),
           CASE WHEN st.status = 'ERROR'
                THEN format('Mend the cause, then: SELECT pgstream.alter_stream_table(%L, '
                            'status => ''ACTIVE'')', format('%I.%I', st.pgs_schema, st.pgs_name))
                ELSE 'The next refresh may succeed; see its history.' END
      FROM pgstream.pgs_stream_tables st
     WHERE st.status = 'ERROR' OR st.consecutive_errors > 0
     ORDER BY st.pgs_id
$$;

GRANT EXECUTE ON FUNCTION pgstream._check_stream_tables() TO PUBLIC;
