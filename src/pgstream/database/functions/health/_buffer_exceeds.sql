-- Whether the change buffer of a source holds more rows than this. Its size tells at once that a
-- small one does not: no page holds more than 291 rows. Else they are counted, one beyond at most.
CREATE OR REPLACE FUNCTION pgstream._buffer_exceeds(p_relid oid, p_rows bigint) RETURNS bool
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    buffer regclass := to_regclass(pgstream._buffer_name(p_relid));
    pages bigint := pg_relation_size(buffer) / current_setting('block_size')::bigint;
    found_rows bigint;
BEGIN
    IF buffer IS NULL OR pages * 291 <= p_rows THEN
        RETURN false;
    END IF;
    EXECUTE format('SELECT count(*) FROM (SELECT FROM %s LIMIT %s) counted', buffer, p_rows + 1)
       INTO found_rows;
    RETURN found_rows > p_rows;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._buffer_exceeds(oid, bigint) TO PUBLIC;
