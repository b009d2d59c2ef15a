-- What these functions and types are, by name; NULL of one that is gone.
CREATE OR REPLACE FUNCTION pgstream._objects_shape(p_names text[]) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(jsonb_object_agg(name, CASE split_part(name, ' ', 1)
               WHEN 'function' THEN pgstream._function_shape(to_regprocedure(substr(name, 10)))
               ELSE pgstream._type_shape(to_regtype(substr(name, 6))) END), '{}')
      FROM unnest(p_names) name
$$;

GRANT EXECUTE ON FUNCTION pgstream._objects_shape(text[]) TO PUBLIC;
