-- Give equal values one spelling, so that they can be grouped and joined by their text.
--
-- interval '30 days' = interval '1 mon', jsonb '1.0' = jsonb '1', float '-0' = float '0' … Equal
-- arguments give the same text, and the value is equal to the argument. The type stays.
CREATE OR REPLACE FUNCTION pgstream._canonical(p_value anyelement) RETURNS anyelement
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    base regtype := pg_typeof(p_value);
    kind "char";
    is_array bool;
BEGIN
    IF base = 'interval'::regtype THEN
        RETURN justify_interval(p_value);
    ELSIF base = 'jsonb'::regtype THEN
        RETURN pgstream._canonical_numbers(p_value);
    END IF;
    LOOP
        SELECT typtype, typsubscript = 'array_subscript_handler'::regproc,
               CASE WHEN typtype = 'd' THEN typbasetype ELSE oid END
          INTO STRICT kind, is_array, base FROM pg_type WHERE oid = base;
        EXIT WHEN kind <> 'd';
    END LOOP;
    CASE
        WHEN base = 'interval'::regtype THEN RETURN justify_interval(p_value);
        WHEN base = 'jsonb'::regtype THEN RETURN pgstream._canonical_numbers(p_value);
        WHEN base = 'numeric'::regtype THEN RETURN trim_scale(p_value);
        WHEN base IN ('real'::regtype, 'double precision'::regtype) THEN RETURN p_value + 0;
        WHEN base = 'bpchar'::regtype THEN RETURN rtrim(p_value::text, ' ');
        WHEN is_array THEN RETURN pgstream._canonical_array(p_value);
        WHEN kind = 'c' THEN
            EXECUTE pgstream._canonical_row(base) INTO p_value USING p_value;
            RETURN p_value;
        WHEN kind = 'r' THEN
            IF isempty(p_value) THEN
                RETURN p_value;
            END IF;
            EXECUTE pgstream._canonical_range(base) INTO STRICT p_value USING p_value;
            RETURN p_value;
        WHEN kind = 'm' THEN
            IF isempty(p_value) THEN
                RETURN p_value;
            END IF;
            EXECUTE 'SELECT range_agg(pgstream._canonical(r)) FROM unnest($1) AS r'
                INTO STRICT p_value USING p_value;
            RETURN p_value;
        ELSE RETURN p_value;
    END CASE;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._canonical(anyelement) TO PUBLIC;
