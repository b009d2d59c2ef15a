-- The defining query of a stream table as a temporary view, whose tree tells what it reads now.
CREATE OR REPLACE FUNCTION pgstream._query_view(p_id bigint) RETURNS oid
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
DECLARE
    query text := (SELECT coalesce(query_with_views, defining_query)
                     FROM pgstream.pgs_stream_tables WHERE pgs_id = p_id);
BEGIN
    DROP VIEW IF EXISTS pg_temp.__pgs_repair;
    EXECUTE 'CREATE TEMPORARY VIEW __pgs_repair AS ' || query;
    RETURN 'pg_temp.__pgs_repair'::regclass;
END
$$;

REVOKE ALL ON FUNCTION pgstream._query_view(bigint) FROM PUBLIC;
