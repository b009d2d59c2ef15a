-- Give the buffer of a source the captured columns that it lacks; tells the names of those that it
-- had with another type, whose changes are lost. A column that nobody reads any more stays: to drop
-- it would make writers wait.
CREATE OR REPLACE FUNCTION pgstream._fit_buffer(p_relid oid) RETURNS text[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    buffer text := pgstream._buffer_name(p_relid);
    wanted record;
    lost text[] := '{}';
BEGIN
    FOR wanted IN
        SELECT c.name, c.type, c.definition, a.attname IS NOT NULL AS is_there,
               format_type(a.atttypid, -1) AS held
          FROM pgstream._captured_columns(p_relid) c
          LEFT JOIN pg_attribute a ON a.attrelid = buffer::regclass AND a.attname = c.name
           AND NOT a.attisdropped
         WHERE format_type(a.atttypid, a.atttypmod) IS DISTINCT FROM c.type
    LOOP
        IF wanted.is_there AND wanted.held = wanted.type THEN  -- it has a modifier
            EXECUTE format('ALTER TABLE %s ALTER %I TYPE %s', buffer, wanted.name, wanted.type);
            CONTINUE;
        END IF;
        IF wanted.is_there THEN
            EXECUTE format('ALTER TABLE %s DROP %I', buffer, wanted.name);
            lost := lost || wanted.name::text;
        END IF;
        EXECUTE format('ALTER TABLE %s ADD %s', buffer, wanted.definition);
    END LOOP;
    RETURN lost;
END
$$;

REVOKE ALL ON FUNCTION pgstream._fit_buffer(oid) FROM PUBLIC;
