-- The captured columns of a source, as pgs_change_tracking keeps them.
CREATE OR REPLACE FUNCTION pgstream._captured_columns_json(p_relid oid) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_object('name', c.name, 'type', c.type)
                              ORDER BY c.ordinality), '[]')
      FROM pgstream._captured_columns(p_relid)
           WITH ORDINALITY c(name, type, definition, value, ordinality)
$$;

GRANT EXECUTE ON FUNCTION pgstream._captured_columns_json(oid) TO PUBLIC;
