-- The bits, moved to the left; those that go out come in again.
CREATE OR REPLACE FUNCTION pgstream._rotate_64(p_bits bigint, p_by int) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT (p_bits << p_by) | pgstream._shift_right_64(p_bits, 64 - p_by)
$$;

GRANT EXECUTE ON FUNCTION pgstream._rotate_64(bigint, int) TO PUBLIC;
