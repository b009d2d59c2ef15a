-- Fail if p_reader may not read these columns. A row as a whole (SELECT t FROM t) names no
-- columns in pg_depend, so then rights on columns are not enough.
CREATE OR REPLACE FUNCTION pgstream._require_readable(
    p_relid oid, p_columns text[], p_whole_row bool, p_reader oid)
RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF has_table_privilege(p_reader, p_relid, 'SELECT') THEN
        RETURN;
    END IF;
    IF NOT p_whole_row
       AND has_any_column_privilege(p_reader, p_relid, 'SELECT')
       AND NOT EXISTS (SELECT FROM unnest(p_columns) c
                        WHERE NOT has_column_privilege(p_reader, p_relid, c, 'SELECT')) THEN
        RETURN;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'PS009',
        MESSAGE = format('permission denied for %s %s',
                         (SELECT CASE relkind WHEN 'v' THEN 'view' ELSE 'table' END
                            FROM pg_class WHERE oid = p_relid),
                         pgstream._relation_name(p_relid)),
        HINT = format('GRANT SELECT ON %s TO %s', pgstream._relation_name(p_relid),
                      p_reader::regrole);
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._require_readable(oid, text[], boolean, oid) TO PUBLIC;
