-- The type of a column as a buffer stores it. A domain's base type, because a domain may refuse the
-- NULLs of a marker; and without a modifier, so that a longer varchar or a numeric with more digits
-- fits before capture knows of it.
CREATE OR REPLACE FUNCTION pgstream._stored_type(p_type oid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE chain(type, depth) AS (
        SELECT p_type, 0
        UNION ALL
        SELECT t.typbasetype, c.depth + 1
          FROM chain c JOIN pg_type t ON t.oid = c.type
         WHERE t.typtype = 'd')
    SELECT format_type(type, -1) FROM chain ORDER BY depth DESC LIMIT 1
$$;

GRANT EXECUTE ON FUNCTION pgstream._stored_type(oid) TO PUBLIC;
