-- One round of xxHash: eight bytes go into an accumulator.
CREATE OR REPLACE FUNCTION pgstream._xxh64_round(p_accumulator bigint, p_lane bigint)
RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT pgstream._multiply_64(
        pgstream._rotate_64(
            pgstream._add_64(p_accumulator,
                             pgstream._multiply_64(p_lane, -4417276706812531889)), 31),
        -7046029288634856825)
$$;

GRANT EXECUTE ON FUNCTION pgstream._xxh64_round(bigint, bigint) TO PUBLIC;
