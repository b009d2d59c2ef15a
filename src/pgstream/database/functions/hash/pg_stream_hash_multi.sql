-- The 64-bit xxHash of several texts: the byte 1E between them, and 00 N U L L 00, which no text
-- can hold, for each NULL.
CREATE OR REPLACE FUNCTION pgstream.pg_stream_hash_multi(inputs text[]) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT pgstream._xxh64(coalesce(string_agg(
               coalesce(convert_to(item, 'UTF8'), '\x004e554c4c00'), '\x1e' ORDER BY place), ''), 42)
      FROM unnest(inputs) WITH ORDINALITY AS i(item, place)
$$;

GRANT EXECUTE ON FUNCTION pgstream.pg_stream_hash_multi(text[]) TO PUBLIC;
