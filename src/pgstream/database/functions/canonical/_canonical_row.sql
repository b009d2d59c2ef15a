-- The query that makes $1 of this composite type canonical.
CREATE OR REPLACE FUNCTION pgstream._canonical_row(p_type oid) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('SELECT (ROW(%s)::%s).*',
                  string_agg(format('pgstream._canonical(($1).%I)', attname), ', ' ORDER BY attnum),
                  format_type(p_type, NULL))
    FROM pg_attribute
    WHERE attrelid = (SELECT typrelid FROM pg_type WHERE oid = p_type)
      AND attnum > 0 AND NOT attisdropped
$$;

GRANT EXECUTE ON FUNCTION pgstream._canonical_row(oid) TO PUBLIC;
