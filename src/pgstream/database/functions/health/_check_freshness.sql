-- Is the data of any active stream table older than twice its schedule?
CREATE OR REPLACE FUNCTION pgstream._check_freshness(
    OUT severity text, OUT subject text, OUT message text, OUT hint text)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'warning', format('%I.%I', st.pgs_schema, st.pgs_name),
           format('its data is %s old, its schedule is %s',
                  date_trunc('second', now() - st.data_timestamp), st.schedule),
           'Refreshes take too long or do not happen; see its history.'
      FROM pgstream.pgs_stream_tables st
     WHERE st.status = 'ACTIVE' AND st.is_populated
       AND now() - st.data_timestamp > 2 * pgstream._duration(st.schedule)
     ORDER BY st.pgs_id
$$;

GRANT EXECUTE ON FUNCTION pgstream._check_freshness() TO PUBLIC;
