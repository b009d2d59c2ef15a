-- The schema and name of a new stream table, which p_caller may create there.
CREATE OR REPLACE FUNCTION pgstream._check_target(
    p_name text, p_caller oid, OUT nsp text, OUT rel text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    nsp_oid oid;
BEGIN
    SELECT p.nsp, p.rel INTO nsp, rel FROM pgstream._parse_name(p_name) p;
    SELECT oid INTO nsp_oid FROM pg_namespace WHERE nspname = nsp;
    IF nsp_oid IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PS001',
            MESSAGE = format('schema "%s" does not exist', nsp),
            HINT = format('CREATE SCHEMA %I', nsp);
    END IF;
    IF nsp ~ '^(pg_|information_schema$)' OR pgstream._is_our_schema(nsp::name) THEN
        RAISE EXCEPTION USING ERRCODE = 'PS001',
            MESSAGE = format('schema "%s" is reserved', nsp),
            HINT = 'Create the stream table in a schema of your own.';
    END IF;
    IF NOT has_schema_privilege(p_caller, nsp_oid, 'CREATE') THEN
        RAISE EXCEPTION USING ERRCODE = 'PS009',
            MESSAGE = format('permission denied for schema %s', nsp),
            HINT = format('GRANT CREATE ON SCHEMA %I TO %s', nsp, p_caller::regrole);
    END IF;
    IF EXISTS (SELECT FROM pg_class WHERE relnamespace = nsp_oid AND relname = rel) THEN
        RAISE EXCEPTION USING ERRCODE = 'PS002',
            MESSAGE = format('relation "%s.%s" already exists', nsp, rel),
            HINT = 'Choose another name, or drop what has it.';
    END IF;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._check_target(text, oid) TO PUBLIC;
