-- The query, all names qualified. SELECT * over a stream table also gives the stream table's
-- __pgs_row_id; that column is left out.
CREATE OR REPLACE FUNCTION pgstream._defining_query(p_view oid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN bool_or(a.attname = '__pgs_row_id')
                THEN format('SELECT %s FROM (%s) q',
                            string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)
                                FILTER (WHERE a.attname <> '__pgs_row_id'), v.text)
                ELSE v.text END
      FROM pgstream._view_text(p_view) AS v(text)
     CROSS JOIN pg_attribute a
     WHERE a.attrelid = p_view AND a.attnum > 0
     GROUP BY v.text
$$;

GRANT EXECUTE ON FUNCTION pgstream._defining_query(oid) TO PUBLIC;
