-- What a query sees of a relation: its name, the columns that it reads, what is below it, row
-- security; of a view, its query. NULL if it is gone. A column is [number, type, modifier,
-- collation, expression, hash of a user's type].
CREATE OR REPLACE FUNCTION pgstream._relation_shape(p_relid oid, p_columns text[]) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT jsonb_strip_nulls(jsonb_build_object(
        'schema', n.nspname, 'name', c.relname, 'kind', c.relkind,
        'row security', nullif(c.relrowsecurity, false),
        'captured', pgstream._is_captured(p_relid),
        'members', pgstream._member_stamps(p_relid),
        'query', CASE c.relkind WHEN 'v' THEN md5(pgstream._view_text(p_relid)) END,
        'columns', CASE WHEN c.relkind <> 'v' THEN (
            SELECT jsonb_object_agg(a.attname, jsonb_build_array(
                       a.attnum, a.atttypid::bigint, a.atttypmod, a.attcollation::bigint,
                       CASE WHEN a.attgenerated <> '' THEN pg_get_expr(d.adbin, d.adrelid) END,
                       CASE WHEN a.atttypid >= 16384 THEN pgstream._type_shape(a.atttypid) END))
              FROM pg_attribute a
              LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
             WHERE a.attrelid = p_relid AND a.attnum > 0 AND NOT a.attisdropped
               AND a.attname = ANY (p_columns)) END))
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.oid = p_relid
$$;

GRANT EXECUTE ON FUNCTION pgstream._relation_shape(oid, text[]) TO PUBLIC;
