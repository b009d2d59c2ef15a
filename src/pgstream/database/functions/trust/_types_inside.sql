-- A type and those that it is made of.
CREATE OR REPLACE FUNCTION pgstream._types_inside(p_type oid) RETURNS SETOF oid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE types(type) AS (
        SELECT p_type
        UNION
        SELECT part.type
          FROM types JOIN pg_type t ON t.oid = types.type
         CROSS JOIN LATERAL (
            SELECT t.typelem UNION ALL
            SELECT t.typbasetype UNION ALL
            SELECT r.rngsubtype FROM pg_range r WHERE t.oid IN (r.rngtypid, r.rngmultitypid)
            UNION ALL
            SELECT a.atttypid FROM pg_attribute a
             WHERE t.typrelid <> 0 AND a.attrelid = t.typrelid
               AND a.attnum > 0 AND NOT a.attisdropped) part(type)
         WHERE part.type <> 0)
    SELECT type FROM types
$$;

GRANT EXECUTE ON FUNCTION pgstream._types_inside(oid) TO PUBLIC;
