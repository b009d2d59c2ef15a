-- Make the stream tables of a dump_config again, all or none; how many there are. The caller
-- becomes their creator. The queries are fully qualified, so they are read under PostgreSQL's own
-- search_path.
CREATE OR REPLACE FUNCTION pgstream.restore_config(config text) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    tables CONSTANT jsonb := pgstream._read_config(config);
    st jsonb;
BEGIN
    FOR st IN SELECT jsonb_array_elements(tables) LOOP
        PERFORM pgstream._create(
            st ->> 'name', st ->> 'query', coalesce(st ->> 'original_query', st ->> 'query'),
            st ->> 'schedule', st ->> 'refresh_mode', (st ->> 'initialize')::bool);
        IF (st ->> 'suspended')::bool THEN
            PERFORM pgstream.alter_stream_table(st ->> 'name', status => 'SUSPENDED');
        END IF;
    END LOOP;
    RETURN jsonb_array_length(tables);
END
$$;

GRANT EXECUTE ON FUNCTION pgstream.restore_config(text) TO PUBLIC;
