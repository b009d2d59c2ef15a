-- Fail if other stream tables read this one.
CREATE OR REPLACE FUNCTION pgstream._require_no_dependents(p_relid oid) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    dependents text := (
        SELECT string_agg(format('%I.%I', t.pgs_schema, t.pgs_name), ', '
                          ORDER BY t.pgs_schema, t.pgs_name)
          FROM pgstream.pgs_dependencies d JOIN pgstream.pgs_stream_tables t USING (pgs_id)
         WHERE d.source_relid = p_relid);
BEGIN
    IF dependents IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PS010',
            MESSAGE = format('other stream tables read %s: %s',
                             pgstream._relation_name(p_relid), dependents),
            DETAIL = dependents,
            HINT = 'Drop those first.';
    END IF;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._require_no_dependents(oid) TO PUBLIC;
