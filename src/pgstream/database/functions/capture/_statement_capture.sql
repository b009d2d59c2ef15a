-- The body of the capture function of a source with statement triggers.
--
-- DDL may have renamed, dropped or retyped a column since it was made. A row of another shape is
-- not captured, nor are those of a child that came since: a marker S says so, and its readers start
-- again. The writer does not fail, and no value is converted: whoever owns a type decides how, and
-- would do so with our rights. The block that looks writes nothing, so it gets no transaction
-- number of its own.
CREATE OR REPLACE FUNCTION pgstream._statement_capture(p_relid oid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT pgstream._fill($template$
DECLARE
    __pgs_known bool;
    __pgs_is_one bool;
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        INSERT INTO <buffer> (__pgs_action, __pgs_weight) VALUES ('T', 0);
        RETURN NULL;
    END IF;
    BEGIN
        IF TG_OP = 'INSERT' THEN
            __pgs_known := (SELECT <is known> FROM __pgs_new n LIMIT 1);
        ELSE
            SELECT <is known> AND (<rows are known>), NOT EXISTS (SELECT FROM __pgs_old OFFSET 1)
              INTO __pgs_known, __pgs_is_one FROM __pgs_old n LIMIT 1;
        END IF;
    EXCEPTION WHEN OTHERS THEN
        __pgs_known := false;
    END;
    IF NOT __pgs_known THEN
        INSERT INTO <buffer> (__pgs_action, __pgs_weight) VALUES ('S', 0);
    ELSIF __pgs_known AND TG_OP = 'INSERT' THEN
        INSERT INTO <buffer> (__pgs_action, __pgs_weight<columns>)
        SELECT 'I', 1<values> FROM __pgs_new n;
    ELSIF __pgs_known AND TG_OP = 'DELETE' THEN
        INSERT INTO <buffer> (__pgs_action, __pgs_weight<columns>)
        SELECT 'D', -1<values> FROM __pgs_old n;
    ELSIF __pgs_known THEN
        <update>
    END IF;
    RETURN NULL;
END
$template$, parts || jsonb_build_object(
        'update', pgstream._fill(pgstream._update_capture(p_relid), parts)))
      FROM pgstream._capture_parts(p_relid) parts
$$;

GRANT EXECUTE ON FUNCTION pgstream._statement_capture(oid) TO PUBLIC;
