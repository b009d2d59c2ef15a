-- The statements that make a view of the query. In parentheses it is one SELECT or an error, so
-- nothing has to be planned to know. What may follow it is cut off: semicolons, comments.
CREATE OR REPLACE FUNCTION pgstream._probes(p_query text) RETURNS text[]
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT array_agg(format(E'CREATE TEMPORARY VIEW __pgs_probe AS (%s\n)', spelling))
      FROM (VALUES (p_query),
                   (rtrim(p_query, E'; \n\r\t')),
                   (regexp_replace(p_query, '(\s|;|--[^\n]*|/\*([^*]|\*[^/])*\*/)*$', ''))) v(spelling)
$$;

GRANT EXECUTE ON FUNCTION pgstream._probes(text) TO PUBLIC;
