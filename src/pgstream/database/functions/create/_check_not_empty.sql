-- Fail if the query is nothing but blanks, comments and semicolons.
CREATE OR REPLACE FUNCTION pgstream._check_not_empty(p_query text) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF regexp_replace(coalesce(p_query, ''), '--[^\n]*|/\*.*?\*/|[\s;]', '', 'g') = '' THEN
        RAISE EXCEPTION USING ERRCODE = 'PS005', MESSAGE = 'the query is empty',
            HINT = 'Give a SELECT.';
    END IF;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._check_not_empty(text) TO PUBLIC;
