-- The type of a column as a buffer stores it: a domain's base type, because a domain may
-- refuse the NULLs of a TRUNCATE marker.
CREATE OR REPLACE FUNCTION pgstream._stored_type(p_type oid, p_typmod int) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE chain(type, typmod, depth) AS (
        SELECT p_type, p_typmod, 0
        UNION ALL
        SELECT t.typbasetype, CASE WHEN t.typtypmod >= 0 THEN t.typtypmod ELSE c.typmod END,
               c.depth + 1
          FROM chain c JOIN pg_type t ON t.oid = c.type
         WHERE t.typtype = 'd')
    SELECT format_type(type, typmod) FROM chain ORDER BY depth DESC LIMIT 1
$$;

GRANT EXECUTE ON FUNCTION pgstream._stored_type(oid, integer) TO PUBLIC;
