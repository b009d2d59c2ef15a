-- The stream tables of a text that dump_config has written.
CREATE OR REPLACE FUNCTION pgstream._read_config(p_config text) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    config jsonb;
BEGIN
    BEGIN
        config := p_config::jsonb;
    EXCEPTION WHEN data_exception OR untranslatable_character THEN
        config := NULL;
    END;
    IF config -> 'version' = '1' AND jsonb_typeof(config -> 'stream_tables') = 'array' THEN
        RETURN config -> 'stream_tables';
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'PS032',
        MESSAGE = 'this is no configuration that pgstream.dump_config() of this version has written',
        HINT = 'Give its text unchanged.';
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._read_config(text) TO PUBLIC;
