-- The query as a temporary view, which the caller drops; NULL if it cannot be one. A query is
-- parsed before it is planned, because planning may call functions, which are not checked yet. Has
-- no search_path of its own, as _check_query.
CREATE OR REPLACE FUNCTION pgstream._parsed(p_query text) RETURNS oid
LANGUAGE plpgsql AS $$
DECLARE
    probe pg_catalog.text;
BEGIN
    FOREACH probe IN ARRAY pgstream._probes(p_query) LOOP
        BEGIN
            EXECUTE probe;
            RETURN 'pg_temp.__pgs_probe'::pg_catalog.regclass;
        EXCEPTION WHEN OTHERS THEN
            NULL;  -- _check_query tells what is wrong
        END;
    END LOOP;
    RETURN NULL;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._parsed(text) TO PUBLIC;
