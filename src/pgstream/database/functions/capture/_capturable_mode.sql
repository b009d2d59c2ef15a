-- The mode in which these sources can be read. AUTO runs full over a materialized view or a
-- foreign table, and says so; DIFFERENTIAL fails when they are to be captured.
CREATE OR REPLACE FUNCTION pgstream._capturable_mode(p_sources oid[], p_mode text) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    uncaptured text := (
        SELECT min(CASE relkind WHEN 'm' THEN 'materialized view ' ELSE 'foreign table ' END
                   || pgstream._relation_name(oid))
          FROM pg_class WHERE oid = ANY (p_sources) AND relkind IN ('m', 'f'));
BEGIN
    IF uncaptured IS NULL OR p_mode <> 'AUTO' THEN
        RETURN p_mode;
    END IF;
    RAISE WARNING 'the changes of % cannot be captured: the stream table is refreshed in FULL mode',
        uncaptured;
    RETURN 'FULL';
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._capturable_mode(oid[], text) TO PUBLIC;
