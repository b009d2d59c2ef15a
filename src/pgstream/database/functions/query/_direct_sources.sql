-- What one view reads itself. System catalogs are not in pg_depend, but they are in the stored
-- tree, in which names and strings cannot pass for a field: their blanks are escaped. Neither are
-- the columns of a whole row, whose type is there.
CREATE OR REPLACE FUNCTION pgstream._direct_sources(p_view oid, OUT relid oid, OUT columns text[])
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT s.relid, ARRAY(
        SELECT DISTINCT a.attname::text
          FROM pg_depend d
          JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
         WHERE d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
           AND d.refclassid = 'pg_class'::regclass AND d.refobjid = s.relid
           AND d.refobjsubid > 0
         UNION
        SELECT a.attname::text
          FROM pg_class c
          JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
         WHERE c.oid = s.relid AND c.reltype IN (
               SELECT m[1]::oid
                 FROM regexp_matches(r.ev_action::text, ':varattno 0 :vartype (\d+) ', 'g') m)
         ORDER BY 1)
      FROM pg_rewrite r
     CROSS JOIN LATERAL (
        SELECT DISTINCT m[1]::oid AS relid
          FROM regexp_matches(r.ev_action::text, ':relid (\d+)', 'g') m) s
     WHERE r.ev_class = p_view AND r.ev_type = '1' AND s.relid NOT IN (0, p_view)
     ORDER BY s.relid
$$;

GRANT EXECUTE ON FUNCTION pgstream._direct_sources(oid) TO PUBLIC;
