-- a + b modulo 2⁶⁴, as a signed number.
CREATE OR REPLACE FUNCTION pgstream._add_64(p_a bigint, p_b bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT pgstream._signed_64(p_a::numeric + p_b)
$$;

GRANT EXECUTE ON FUNCTION pgstream._add_64(bigint, bigint) TO PUBLIC;
