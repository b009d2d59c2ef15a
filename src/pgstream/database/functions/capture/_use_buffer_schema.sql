-- New buffers go to this schema from now on; others stay where they are. False if there is one of
-- this name that pgstream has not made: whoever owns it could drop what is in it.
CREATE OR REPLACE FUNCTION pgstream._use_buffer_schema(p_name name) RETURNS bool
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pgstream.pgs_buffer_schemas WHERE schema_name = p_name) THEN
        IF EXISTS (SELECT FROM pg_namespace WHERE nspname = p_name) THEN
            RETURN false;
        END IF;
        EXECUTE format('CREATE SCHEMA %I', p_name);
        EXECUTE format('REVOKE ALL ON SCHEMA %I FROM PUBLIC', p_name);
        INSERT INTO pgstream.pgs_buffer_schemas VALUES (p_name, false);
    END IF;
    UPDATE pgstream.pgs_buffer_schemas SET is_current = schema_name = p_name
     WHERE is_current <> (schema_name = p_name);
    RETURN true;
END
$$;

REVOKE ALL ON FUNCTION pgstream._use_buffer_schema(name) FROM PUBLIC;
