-- The 64-bit xxHash of a text, with Spark's seed: what Spark's xxhash64 gives, and so the
-- __pgs_row_id of a row whose key is one text.
CREATE OR REPLACE FUNCTION pgstream.pg_stream_hash(input text) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT pgstream._xxh64(convert_to(input, 'UTF8'), 42)
$$;

GRANT EXECUTE ON FUNCTION pgstream.pg_stream_hash(text) TO PUBLIC;
