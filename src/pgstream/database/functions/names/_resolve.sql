-- The pgs_id of a stream table by its name.
CREATE OR REPLACE FUNCTION pgstream._resolve(p_name text) RETURNS bigint
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    wanted record;
    found_id bigint;
    elsewhere text;
BEGIN
    SELECT * INTO wanted FROM pgstream._parse_name(p_name);
    SELECT pgs_id INTO found_id FROM pgstream.pgs_stream_tables
     WHERE pgs_schema = wanted.nsp AND pgs_name = wanted.rel;
    IF found_id IS NULL THEN
        SELECT string_agg(format('%I.%I', pgs_schema, pgs_name), ', ' ORDER BY pgs_schema)
          INTO elsewhere FROM pgstream.pgs_stream_tables WHERE pgs_name = wanted.rel;
        RAISE EXCEPTION USING ERRCODE = 'PS011',
            MESSAGE = format('there is no stream table %I.%I', wanted.nsp, wanted.rel),
            HINT = coalesce('Did you mean ' || elsewhere || '?',
                            'SELECT name FROM pgstream.pgs_status() lists them.');
    END IF;
    RETURN found_id;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._resolve(text) TO PUBLIC;
