-- The columns of a relation that users see, in order.
CREATE OR REPLACE FUNCTION pgstream._column_names(p_relid oid) RETURNS text[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT ARRAY(SELECT attname::text FROM pg_attribute
                  WHERE attrelid = p_relid AND attnum > 0 AND NOT attisdropped
                    AND attname <> '__pgs_row_id' ORDER BY attnum)
$$;

GRANT EXECUTE ON FUNCTION pgstream._column_names(oid) TO PUBLIC;
