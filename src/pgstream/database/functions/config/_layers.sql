-- How many stream tables a stream table stands above: 0 if it reads none.
CREATE OR REPLACE FUNCTION pgstream._layers() RETURNS TABLE (pgs_id bigint, layer int)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE paths(pgs_id, layer) AS (
        SELECT st.pgs_id, 0 FROM pgstream.pgs_stream_tables st
        UNION
        SELECT reader.pgs_id, paths.layer + 1
          FROM paths
          JOIN pgstream.pgs_stream_tables st ON st.pgs_id = paths.pgs_id
          JOIN pgstream.pgs_dependencies reader ON reader.source_relid = st.pgs_relid)
    SELECT paths.pgs_id, max(paths.layer) FROM paths GROUP BY paths.pgs_id
$$;

GRANT EXECUTE ON FUNCTION pgstream._layers() TO PUBLIC;
