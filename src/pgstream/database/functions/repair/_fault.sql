-- What keeps a stream table from being maintained, of all that repair can mend; NULL if nothing.
CREATE OR REPLACE FUNCTION pgstream._fault(p_id bigint) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    st pgstream.pgs_stream_tables;
    query_view oid;
    sources oid[];
    alerts text;
BEGIN
    SELECT * INTO st FROM pgstream.pgs_stream_tables WHERE pgs_id = p_id;
    IF st.pgs_relid IS DISTINCT FROM to_regclass(format('%I.%I', st.pgs_schema, st.pgs_name)) THEN
        RETURN 'its table has another number';
    END IF;
    query_view := pgstream._query_view(p_id);  -- by itself: the next statement sees the view
    sources := ARRAY(SELECT s.relid FROM pgstream._sources(query_view) s);
    IF NOT sources <@ ARRAY(SELECT source_relid FROM pgstream.pgs_dependencies WHERE pgs_id = p_id)
    THEN
        RETURN 'a table that it reads has another number';
    END IF;
    SELECT string_agg(pgstream._relation_name(c.source_relid) || ': ' || alert, ', ') INTO alerts
      FROM pgstream._captured_sources() c
     CROSS JOIN LATERAL pgstream._capture_alerts(c.source_relid, c.is_stream, c.cdc_mode) alert
     WHERE c.source_relid = ANY (sources) AND alert NOT LIKE 'trigger_disabled%';
    IF alerts IS NULL AND st.refresh_mode <> 'FULL' THEN
        SELECT string_agg(pgstream._relation_name(s) || ': not captured', ', ') INTO alerts
          FROM unnest(sources) s JOIN pg_class c ON c.oid = s
         WHERE c.relkind <> 'v' AND NOT EXISTS (
               SELECT FROM pgstream.pgs_change_tracking t WHERE t.source_relid = s);
    END IF;
    RETURN alerts;
END
$$;

REVOKE ALL ON FUNCTION pgstream._fault(bigint) FROM PUBLIC;
