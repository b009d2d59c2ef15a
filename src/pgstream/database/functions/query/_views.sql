-- The view and those that it reads, to any depth. System views count as tables: none may be read.
-- As in _direct_sources, but for the columns, which cost more than all else.
CREATE OR REPLACE FUNCTION pgstream._views(p_view oid) RETURNS SETOF oid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE views(relid) AS (
        SELECT p_view
        UNION
        SELECT c.oid
          FROM views v
          JOIN pg_rewrite r ON r.ev_class = v.relid AND r.ev_type = '1'
         CROSS JOIN LATERAL regexp_matches(r.ev_action::text, ':relid (\d+)', 'g') m
          JOIN pg_class c ON c.oid = m[1]::oid
          JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relkind = 'v' AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pgstream'))
    SELECT relid FROM views
$$;

GRANT EXECUTE ON FUNCTION pgstream._views(oid) TO PUBLIC;
