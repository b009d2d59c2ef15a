-- The age of a stream table's data in seconds; NULL if it has none.
CREATE OR REPLACE FUNCTION pgstream.get_staleness(name text) RETURNS float8
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT extract(epoch FROM now() - st.data_timestamp)::float8
      FROM pgstream.pgs_stream_tables st
     WHERE st.pgs_id = pgstream._resolve(get_staleness.name)
$$;

GRANT EXECUTE ON FUNCTION pgstream.get_staleness(text) TO PUBLIC;
