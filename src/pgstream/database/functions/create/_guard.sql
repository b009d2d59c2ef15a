-- Trigger on every stream table: nobody but the worker changes it.
CREATE OR REPLACE FUNCTION pgstream._guard() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- Deeper than one: another trigger writes here, while pgstream applies a change.
    IF current_setting('pg_stream.applying', true) IS DISTINCT FROM 'on'
       OR pg_trigger_depth() > 1 THEN
        RAISE EXCEPTION USING ERRCODE = 'PS019',
            MESSAGE = format('stream table %I.%I is maintained by pgstream; change its sources '
                             'instead', TG_TABLE_SCHEMA, TG_TABLE_NAME);
    END IF;
    RETURN NULL;
END
$$;

REVOKE ALL ON FUNCTION pgstream._guard() FROM PUBLIC;
