-- The number modulo 2⁶⁴ that a bigint can hold.
CREATE OR REPLACE FUNCTION pgstream._signed_64(p_number numeric) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT (mod(mod(p_number + 9223372036854775808, 18446744073709551616) + 18446744073709551616,
                18446744073709551616) - 9223372036854775808)::bigint
$$;

GRANT EXECUTE ON FUNCTION pgstream._signed_64(numeric) TO PUBLIC;
