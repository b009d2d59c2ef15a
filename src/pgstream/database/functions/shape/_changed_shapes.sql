-- What these stream tables read and is not as it was: relations, and in the end the functions and
-- types of the query, which have no relid. One that was never looked at is not among them.
CREATE OR REPLACE FUNCTION pgstream._changed_shapes(
    p_ids bigint[], OUT pgs_id bigint, OUT relid oid, OUT before jsonb, OUT after jsonb)
RETURNS SETOF record
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    doubtful constant bigint[] := ARRAY(
        SELECT unnest(p_ids) EXCEPT SELECT unnest(pgstream._surely_same(p_ids)));
BEGIN
    IF doubtful = '{}' THEN
        RETURN;  -- mostly: shapes take longer than all else that is asked
    END IF;
    RETURN QUERY
    SELECT d.pgs_id, d.source_relid, d.shape, now.shape
      FROM pgstream.pgs_dependencies d
     CROSS JOIN LATERAL pgstream._relation_shape(d.source_relid, d.columns_used) now(shape)
     WHERE d.pgs_id = ANY (doubtful) AND d.shape IS NOT NULL AND d.shape IS DISTINCT FROM now.shape
    UNION ALL
    SELECT t.pgs_id, NULL, t.objects_used, now.shape
      FROM pgstream.pgs_stream_tables t
     CROSS JOIN LATERAL pgstream._objects_shape(
            ARRAY(SELECT jsonb_object_keys(t.objects_used))) now(shape)
     WHERE t.pgs_id = ANY (doubtful) AND t.objects_used <> now.shape;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._changed_shapes(bigint[]) TO PUBLIC;
