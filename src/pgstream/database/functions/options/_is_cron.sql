-- Whether the text is a cron expression of five or six fields, or a word such as @hourly.
CREATE OR REPLACE FUNCTION pgstream._is_cron(p_text text) RETURNS bool
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    fields text[] := regexp_split_to_array(btrim(p_text), '\s+');
    lows   int[] := ARRAY[0, 0, 0, 1, 1, 0];  -- sec min hour dom mon dow
    highs  int[] := ARRAY[59, 59, 23, 31, 12, 7];
    skip   int := 6 - cardinality(fields);
BEGIN
    IF lower(btrim(p_text)) IN ('@hourly', '@daily', '@midnight', '@weekly', '@monthly',
                                '@yearly', '@annually') THEN
        RETURN true;
    END IF;
    IF skip NOT IN (0, 1) THEN
        RETURN false;
    END IF;
    FOR i IN 1 .. cardinality(fields) LOOP
        IF NOT pgstream._is_cron_field(fields[i], lows[i + skip], highs[i + skip]) THEN
            RETURN false;
        END IF;
    END LOOP;
    RETURN true;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._is_cron(text) TO PUBLIC;
