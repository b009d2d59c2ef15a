-- Fail unless the query is one SELECT that the caller may run. It is planned, but does not run. Has
-- no search_path of its own: the query means what it means to the caller.
CREATE OR REPLACE FUNCTION pgstream._check_query(p_query text, p_nsp text, p_rel text)
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    cur pg_catalog.refcursor;
    message pg_catalog.text;
BEGIN
    OPEN cur FOR EXECUTE p_query;
    CLOSE cur;
EXCEPTION
    WHEN invalid_cursor_definition THEN
        GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
        PERFORM pgstream._refuse_cursor(message, p_query);
    WHEN undefined_parameter THEN
        PERFORM pgstream._refuse('parameter', p_query);
    WHEN undefined_table THEN
        GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
        PERFORM pgstream._refuse_itself(
            message, p_nsp, p_rel, pg_catalog.current_schemas(false));
        RAISE;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._check_query(text, text, text) TO PUBLIC;
