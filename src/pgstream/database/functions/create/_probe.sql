-- The query as a temporary view, which the caller drops. Has no search_path of its own, as
-- _check_query.
CREATE OR REPLACE FUNCTION pgstream._probe(p_query text) RETURNS oid
LANGUAGE plpgsql AS $$
DECLARE
    message pg_catalog.text;
BEGIN
    EXECUTE pg_catalog.concat('CREATE TEMPORARY VIEW __pgs_probe AS ', p_query);
    RETURN 'pg_temp.__pgs_probe'::pg_catalog.regclass;
EXCEPTION
    -- The query has passed _check_query, so a syntax error means that it returns rows, but
    -- not as a SELECT does: INSERT ... RETURNING, EXPLAIN, SHOW.
    WHEN syntax_error OR feature_not_supported THEN
        GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
        RAISE EXCEPTION USING ERRCODE = 'PS007', MESSAGE = 'the query is not a SELECT',
            DETAIL = message, HINT = 'A stream table is defined by one SELECT.';
    WHEN invalid_table_definition OR duplicate_column THEN
        GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
        RAISE EXCEPTION USING ERRCODE = 'PS018', MESSAGE = message,
            HINT = 'Name and type every column of the query: expression::type AS name.';
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._probe(text) TO PUBLIC;
