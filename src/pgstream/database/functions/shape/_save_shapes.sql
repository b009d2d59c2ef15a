-- Remember what a stream table's query reads as it is now.
CREATE OR REPLACE FUNCTION pgstream._save_shapes(p_id bigint) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    UPDATE pgstream.pgs_dependencies
       SET shape = pgstream._relation_shape(source_relid, columns_used)
     WHERE pgs_id = p_id;
    UPDATE pgstream.pgs_stream_tables
       SET objects_used = pgstream._objects_shape(ARRAY(SELECT jsonb_object_keys(objects_used)))
     WHERE pgs_id = p_id;
$$;

REVOKE ALL ON FUNCTION pgstream._save_shapes(bigint) FROM PUBLIC;
