-- xxHash with 64 bits: stripes of 32 bytes, then what is left, by eight, four and one byte.
CREATE OR REPLACE FUNCTION pgstream._xxh64(p_data bytea, p_seed bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    prime_1 CONSTANT bigint := -7046029288634856825;
    prime_2 CONSTANT bigint := -4417276706812531889;
    prime_3 CONSTANT bigint := 1609587929392839161;
    prime_4 CONSTANT bigint := -8796714831421723037;
    prime_5 CONSTANT bigint := 2870177450012600261;
    size CONSTANT int := length(p_data);
    place int := size - size % 32;
    h bigint := CASE WHEN size < 32 THEN pgstream._add_64(p_seed, prime_5)
                     ELSE pgstream._xxh64_stripes(p_data, p_seed) END;
BEGIN
    h := pgstream._add_64(h, size);
    WHILE place + 8 <= size LOOP
        h := h # pgstream._xxh64_round(0, pgstream._little_endian(p_data, place, 8));
        h := pgstream._add_64(pgstream._multiply_64(pgstream._rotate_64(h, 27), prime_1), prime_4);
        place := place + 8;
    END LOOP;
    IF place + 4 <= size THEN
        h := h # pgstream._multiply_64(pgstream._little_endian(p_data, place, 4), prime_1);
        h := pgstream._add_64(pgstream._multiply_64(pgstream._rotate_64(h, 23), prime_2), prime_3);
        place := place + 4;
    END IF;
    WHILE place < size LOOP
        h := h # pgstream._multiply_64(get_byte(p_data, place), prime_5);
        h := pgstream._multiply_64(pgstream._rotate_64(h, 11), prime_1);
        place := place + 1;
    END LOOP;
    h := pgstream._multiply_64(h # pgstream._shift_right_64(h, 33), prime_2);
    h := pgstream._multiply_64(h # pgstream._shift_right_64(h, 29), prime_3);
    RETURN h # pgstream._shift_right_64(h, 32);
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._xxh64(bytea, bigint) TO PUBLIC;
