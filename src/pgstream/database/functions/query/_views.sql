-- The view and those that it reads, to any depth. System views count as tables: none may be read.
CREATE OR REPLACE FUNCTION pgstream._views(p_view oid) RETURNS SETOF oid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE views(relid) AS (
        SELECT p_view
        UNION
        SELECT s.relid
          FROM views v
         CROSS JOIN LATERAL pgstream._direct_sources(v.relid) s
          JOIN pg_class c ON c.oid = s.relid
          JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relkind = 'v' AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pgstream'))
    SELECT relid FROM views
$$;

GRANT EXECUTE ON FUNCTION pgstream._views(oid) TO PUBLIC;
