-- Whose query it is, from the view that was made of it.
CREATE OR REPLACE FUNCTION pgstream._creator(p_view oid) RETURNS oid
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    caller oid := (SELECT relowner FROM pg_class WHERE oid = p_view AND relkind = 'v'
                      AND relnamespace = pg_my_temp_schema());
BEGIN
    IF caller IS NULL OR NOT pg_has_role(session_user, caller, 'MEMBER') THEN
        RAISE EXCEPTION USING ERRCODE = 'PS009',
            MESSAGE = 'the session may not create stream tables for this role',
            HINT = 'Call pgstream.create_stream_table as yourself.';
    END IF;
    RETURN caller;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._creator(oid) TO PUBLIC;
