-- What a stream table does, as property and value.
CREATE OR REPLACE FUNCTION pgstream.explain_st(name text)
RETURNS TABLE (property text, value text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT p.property, p.value
      FROM pgstream.pgs_stream_tables st
     CROSS JOIN LATERAL (
        SELECT 1, v.position, v.property, v.value
          FROM (VALUES (1, 'Defining Query', st.defining_query),
                       (2, 'Refresh Mode', st.refresh_mode),
                       (3, 'Status', st.status)) v(position, property, value)
        UNION ALL
        SELECT 2, e.position, e.item ->> 'property', e.item ->> 'value'
          FROM jsonb_array_elements(st.explanation) WITH ORDINALITY e(item, position)
     ) p(part, position, property, value)
     WHERE st.pgs_id = pgstream._resolve(explain_st.name)
     ORDER BY p.part, p.position
$$;

GRANT EXECUTE ON FUNCTION pgstream.explain_st(text) TO PUBLIC;
