-- Is every lookup of a refresh served by an index? The plan knew which were missing; those made
-- since are looked at again, by their first column.
CREATE OR REPLACE FUNCTION pgstream._check_indexes(
    OUT severity text, OUT subject text, OUT message text, OUT hint text)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'warning', format('%I.%I', st.pgs_schema, st.pgs_name),
           'refreshes look rows up without an index, so they read whole tables',
           item ->> 'value'
      FROM pgstream.pgs_stream_tables st
     CROSS JOIN LATERAL jsonb_array_elements(st.explanation) item
     CROSS JOIN LATERAL regexp_match(item ->> 'value', '^CREATE INDEX ON (.*?) \((.*)\)$') part
     WHERE item ->> 'property' = 'Missing Index' AND st.refresh_mode <> 'FULL'
       AND NOT EXISTS (
           SELECT FROM pg_index i
             JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
            WHERE i.indrelid = to_regclass(part[1]) AND i.indisvalid
              AND '"' || replace(a.attname, '"', '""') || '"'
                  = ANY (string_to_array(part[2], ', ')))
     ORDER BY st.pgs_id
$$;

GRANT EXECUTE ON FUNCTION pgstream._check_indexes() TO PUBLIC;
