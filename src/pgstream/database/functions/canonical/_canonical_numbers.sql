-- jsonb with its numbers spelled without trailing zeros. The numbers in the text have no exponents;
-- what stands in strings is passed over.
CREATE OR REPLACE FUNCTION pgstream._canonical_numbers(p_value jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
    SELECT regexp_replace(
        p_value::text,
        '("(?:[^"\\]|\\.)*")|(\.[0-9]*[1-9])0+(?![0-9])|\.0+(?![0-9])', '\1\2', 'g'
    )::jsonb
$$;

GRANT EXECUTE ON FUNCTION pgstream._canonical_numbers(jsonb) TO PUBLIC;
