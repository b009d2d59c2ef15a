-- Do changes pile up, because somebody does not read them?
CREATE OR REPLACE FUNCTION pgstream._check_buffers(
    OUT severity text, OUT subject text, OUT message text, OUT hint text)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'warning', pgstream._relation_name(t.source_relid),
           format('its buffer holds more than %s changes', warn.rows),
           format('Refresh, resume or drop its readers: %s',
                  (SELECT string_agg(format('%I.%I (%s)', st.pgs_schema, st.pgs_name, st.status),
                                     ', ' ORDER BY st.pgs_id)
                     FROM pgstream.pgs_stream_tables st
                    WHERE st.pgs_id = ANY (t.tracked_by_pgs_ids)))
      FROM pgstream.pgs_change_tracking t
     CROSS JOIN (SELECT pgstream._number_setting('buffer_warning_rows', 1000000)) warn(rows)
     WHERE pgstream._buffer_exceeds(t.source_relid, warn.rows)
     ORDER BY t.source_relid
$$;

GRANT EXECUTE ON FUNCTION pgstream._check_buffers() TO PUBLIC;
