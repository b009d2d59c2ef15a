-- Per stream table its status and how old its data is.
CREATE OR REPLACE FUNCTION pgstream.pgs_status()
RETURNS TABLE (
    name text, status text, refresh_mode text, is_populated bool, consecutive_errors int,
    schedule text, data_timestamp timestamptz, staleness interval, last_error text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT st.pgs_schema || '.' || st.pgs_name, st.status, st.refresh_mode, st.is_populated,
           st.consecutive_errors, st.schedule, st.data_timestamp, st.staleness,
           st.last_error
      FROM pgstream.stream_tables_info st
     ORDER BY st.pgs_schema, st.pgs_name
$$;

GRANT EXECUTE ON FUNCTION pgstream.pgs_status() TO PUBLIC;
