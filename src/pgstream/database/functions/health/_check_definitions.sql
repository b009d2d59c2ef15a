-- Is a stream table to start again, because a source or its capture has changed?
CREATE OR REPLACE FUNCTION pgstream._check_definitions(
    OUT severity text, OUT subject text, OUT message text, OUT hint text)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'warning', format('%I.%I', st.pgs_schema, st.pgs_name),
           'its next refresh computes everything from scratch (REINITIALIZE): '
           || coalesce(st.reinit_reason, 'a source or its capture has changed'), NULL
      FROM pgstream.pgs_stream_tables st
     WHERE st.needs_reinit
     ORDER BY st.pgs_id
$$;

GRANT EXECUTE ON FUNCTION pgstream._check_definitions() TO PUBLIC;
