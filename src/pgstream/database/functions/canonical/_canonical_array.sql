-- An array of canonical elements: one after the other, then row by row, plane by plane … put
-- together again.
CREATE OR REPLACE FUNCTION pgstream._canonical_array(p_value anyarray) RETURNS anyarray
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    parts text[];
    width int;
BEGIN
    IF array_ndims(p_value) IS NULL THEN
        RETURN p_value;
    END IF;
    parts := ARRAY(
        SELECT coalesce(
            '"' || regexp_replace(pgstream._canonical(e)::text, '(["\\])', '\\\1', 'g') || '"',
            'NULL')
        FROM (SELECT unnest(p_value) AS e, generate_series(1, cardinality(p_value)) AS number) all_
        ORDER BY number
    );
    FOR dimension IN REVERSE array_ndims(p_value) .. 1 LOOP
        width := array_length(p_value, dimension);
        parts := ARRAY(
            SELECT '{' || string_agg(part, ',' ORDER BY number) || '}'
            FROM unnest(parts) WITH ORDINALITY AS element(part, number)
            GROUP BY (number - 1) / width ORDER BY (number - 1) / width
        );
    END LOOP;
    p_value := array_dims(p_value) || '=' || parts[1];
    RETURN p_value;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._canonical_array(anyarray) TO PUBLIC;
