-- What xxHash makes of all whole stripes of 32 bytes: four accumulators, each of a lane of eight
-- bytes, and then one number of them.
CREATE OR REPLACE FUNCTION pgstream._xxh64_stripes(p_data bytea, p_seed bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    prime_1 CONSTANT bigint := -7046029288634856825;
    prime_2 CONSTANT bigint := -4417276706812531889;
    prime_4 CONSTANT bigint := -8796714831421723037;
    a bigint[] := ARRAY[
        pgstream._add_64(pgstream._add_64(p_seed, prime_1), prime_2),
        pgstream._add_64(p_seed, prime_2), p_seed, pgstream._add_64(p_seed, -prime_1)];
    h bigint;
BEGIN
    FOR stripe IN 0 .. length(p_data) / 32 - 1 LOOP
        FOR lane IN 1 .. 4 LOOP
            a[lane] := pgstream._xxh64_round(a[lane],
                pgstream._little_endian(p_data, 32 * stripe + 8 * (lane - 1), 8));
        END LOOP;
    END LOOP;
    h := pgstream._add_64(
        pgstream._add_64(pgstream._rotate_64(a[1], 1), pgstream._rotate_64(a[2], 7)),
        pgstream._add_64(pgstream._rotate_64(a[3], 12), pgstream._rotate_64(a[4], 18)));
    FOR lane IN 1 .. 4 LOOP
        h := pgstream._add_64(
            pgstream._multiply_64(h # pgstream._xxh64_round(0, a[lane]), prime_1), prime_4);
    END LOOP;
    RETURN h;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._xxh64_stripes(bytea, bigint) TO PUBLIC;
