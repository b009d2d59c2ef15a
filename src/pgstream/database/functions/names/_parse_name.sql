-- The schema and the name in 'name' or 'schema.name'; the schema is public if there is none.
CREATE OR REPLACE FUNCTION pgstream._parse_name(p_name text, OUT nsp text, OUT rel text)
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    parts text[];
BEGIN
    BEGIN
        parts := parse_ident(p_name);
    EXCEPTION WHEN invalid_parameter_value THEN
        parts := NULL;
    END;
    IF parts IS NULL OR cardinality(parts) > 2 THEN
        RAISE EXCEPTION USING ERRCODE = 'PS001',
            MESSAGE = format('%s is not the name of a stream table', quote_nullable(p_name)),
            HINT = 'Write name or schema.name; put special characters in double quotes.';
    END IF;
    rel := parts[cardinality(parts)];
    nsp := CASE cardinality(parts) WHEN 2 THEN parts[1] ELSE 'public' END;
    IF greatest(octet_length(nsp), octet_length(rel)) > 63 THEN
        RAISE EXCEPTION USING ERRCODE = 'PS001',
            MESSAGE = format('the name %s is too long', quote_literal(p_name)),
            HINT = 'PostgreSQL allows 63 bytes.';
    END IF;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._parse_name(text) TO PUBLIC;
