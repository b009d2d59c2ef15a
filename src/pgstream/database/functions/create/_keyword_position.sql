-- ' (line 2, column 5)' if the query has the keyword exactly once outside strings, quoted names
-- and comments; else ''.
CREATE OR REPLACE FUNCTION pgstream._keyword_position(p_query text, p_keyword text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    keyword text := concat('(?<![\w$])(?:', p_keyword, ')(?![\w$])');
    visible text;
    before text;
BEGIN
    IF p_query ~ '\$([[:alpha:]_]\w*)?\$' THEN
        RETURN '';  -- a dollar-quoted string may hold anything
    END IF;
    SELECT string_agg(CASE WHEN length(m[1]) > 1 THEN regexp_replace(m[1], '[^\n]', ' ', 'g')
                           ELSE m[1] END, '' ORDER BY n)
      INTO visible
      FROM regexp_matches(p_query,
               '([eE]''(?:[^''\\]|\\.|'''')*''|''[^'']*''|"[^"]*"|--[^\n]*'
               '|/\*(?:[^*]|\*+[^*/])*\*+/|.)', 'g') WITH ORDINALITY found(m, n);
    IF regexp_count(visible, keyword, 1, 'i') IS DISTINCT FROM 1 THEN
        RETURN '';
    END IF;
    before := left(visible, regexp_instr(visible, keyword, 1, 1, 0, 'i') - 1);
    RETURN format(' (line %s, column %s)', regexp_count(before, '\n') + 1,
                  length(regexp_replace(before, '^.*\n', '')) + 1);
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._keyword_position(text, text) TO PUBLIC;
