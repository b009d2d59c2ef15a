-- The number that p_bytes bytes from p_from on write, the least significant first.
CREATE OR REPLACE FUNCTION pgstream._little_endian(p_data bytea, p_from int, p_bytes int)
RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT bit_or(get_byte(p_data, p_from + i)::bigint << (8 * i))
      FROM generate_series(0, p_bytes - 1) i
$$;

GRANT EXECUTE ON FUNCTION pgstream._little_endian(bytea, int, int) TO PUBLIC;
