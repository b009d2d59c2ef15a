-- What a view and the views below it read: those views, and the tables.
CREATE OR REPLACE FUNCTION pgstream._sources(p_view oid, OUT relid oid, OUT columns text[])
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT s.relid,
           array_remove(array_agg(DISTINCT c.name ORDER BY c.name), NULL)
      FROM pgstream._views(p_view) v
     CROSS JOIN LATERAL pgstream._direct_sources(v) s
      LEFT JOIN LATERAL unnest(s.columns) c(name) ON true
     GROUP BY s.relid
     ORDER BY s.relid
$$;

GRANT EXECUTE ON FUNCTION pgstream._sources(oid) TO PUBLIC;
