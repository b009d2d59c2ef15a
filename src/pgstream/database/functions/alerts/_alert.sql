-- Tell those who listen on pg_stream_alert what has happened, when this transaction commits. Texts
-- are cut: a notification holds 8000 bytes.
CREATE OR REPLACE FUNCTION pgstream._alert(p_event text, p_fields jsonb) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT pg_notify('pg_stream_alert', json_object_agg(key, value ORDER BY position)::text)
      FROM (SELECT 0, 'event', to_json(p_event)
            UNION ALL
            SELECT row_number() OVER (), key,
                   CASE WHEN jsonb_typeof(value) = 'string'
                        THEN to_json(left(value #>> '{}', 1000)) ELSE value::json END
              FROM jsonb_each(p_fields)) fields(position, key, value)
$$;

REVOKE ALL ON FUNCTION pgstream._alert(text, jsonb) FROM PUBLIC;
