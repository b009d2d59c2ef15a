-- A template with its <marks> replaced. It is split first and filled in afterwards: a column name
-- may contain what looks like a mark.
CREATE OR REPLACE FUNCTION pgstream._fill(p_template text, p_parts jsonb) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT string_agg(CASE WHEN place % 2 = 1 THEN piece ELSE p_parts ->> piece END, ''
                      ORDER BY place)
      FROM string_to_table(replace(replace(p_template, '<', E'\x01'), '>', E'\x01'), E'\x01')
           WITH ORDINALITY pieces(piece, place)
$$;

GRANT EXECUTE ON FUNCTION pgstream._fill(text, jsonb) TO PUBLIC;
