-- The bits, moved to the right; zeros come in.
CREATE OR REPLACE FUNCTION pgstream._shift_right_64(p_bits bigint, p_by int) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT (p_bits >> p_by) & ~(-1::bigint << (64 - p_by))
$$;

GRANT EXECUTE ON FUNCTION pgstream._shift_right_64(bigint, int) TO PUBLIC;
