-- Give equal values one spelling, so that they can be grouped and joined by their text.

-- interval '30 days' = interval '1 mon', jsonb '1.0' = jsonb '1', float '-0' = float '0' …
-- Equal arguments give the same text, and the value is equal to the argument. The type stays.
CREATE FUNCTION pgstream._canonical(p_value anyelement) RETURNS anyelement
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

-- The numbers in the text have no exponents; what stands in strings is passed over.
CREATE FUNCTION pgstream._canonical_numbers(p_value jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
    SELECT regexp_replace(
        p_value::text,
        '("(?:[^"\\]|\\.)*")|(\.[0-9]*[1-9])0+(?![0-9])|\.0+(?![0-9])', '\1\2', 'g'
    )::jsonb
$$;

-- The elements one after the other, then row by row, plane by plane … put together again.
CREATE FUNCTION pgstream._canonical_array(p_value anyarray) RETURNS anyarray
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
        FROM (SELECT unnest(p_value) AS e, generate_series(1, cardinality(p_value)) AS place) all_
        ORDER BY place
    );
    FOR dimension IN REVERSE array_ndims(p_value) .. 1 LOOP
        width := array_length(p_value, dimension);
        parts := ARRAY(
            SELECT '{' || string_agg(part, ',' ORDER BY place) || '}'
            FROM unnest(parts) WITH ORDINALITY AS element(part, place)
            GROUP BY (place - 1) / width ORDER BY (place - 1) / width
        );
    END LOOP;
    p_value := array_dims(p_value) || '=' || parts[1];
    RETURN p_value;
END
$$;

-- The query for $1 of this composite type.
CREATE FUNCTION pgstream._canonical_row(p_type oid) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('SELECT (ROW(%s)::%s).*',
                  string_agg(format('pgstream._canonical(($1).%I)', attname), ', ' ORDER BY attnum),
                  format_type(p_type, NULL))
    FROM pg_attribute
    WHERE attrelid = (SELECT typrelid FROM pg_type WHERE oid = p_type)
      AND attnum > 0 AND NOT attisdropped
$$;

-- The query for $1 of this range type. Its constructor has its name.
CREATE FUNCTION pgstream._canonical_range(p_type oid) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('SELECT %I.%I(pgstream._canonical(lower($1)), pgstream._canonical(upper($1)),'
                  ' CASE WHEN lower_inc($1) THEN ''['' ELSE ''('' END ||'
                  ' CASE WHEN upper_inc($1) THEN '']'' ELSE '')'' END)', nspname, typname)
    FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace WHERE t.oid = p_type
$$;
