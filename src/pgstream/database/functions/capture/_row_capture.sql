-- The body of the capture function of a source with row triggers. As _statement_capture; only the
-- fields that it reads are named, because a row of another shape is an error to PL/pgSQL.
CREATE OR REPLACE FUNCTION pgstream._row_capture(p_relid oid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT pgstream._fill($template$
DECLARE
    __pgs_known bool;
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        INSERT INTO <buffer> (__pgs_action, __pgs_weight) VALUES ('T', 0);
        RETURN NULL;
    END IF;
    BEGIN
        IF TG_OP = 'DELETE' THEN
            __pgs_known := <table is known> AND <OLD is known>;
        ELSE
            __pgs_known := <table is known> AND <NEW is known>;
        END IF;
    EXCEPTION WHEN OTHERS THEN
        __pgs_known := false;
    END;
    IF NOT __pgs_known THEN  -- once in a transaction
        INSERT INTO <buffer> (__pgs_action, __pgs_weight)
        SELECT 'S', 0 WHERE NOT EXISTS (
            SELECT FROM <buffer> WHERE __pgs_xid = pg_current_xact_id() AND __pgs_action = 'S');
    ELSIF TG_OP = 'INSERT' THEN
        INSERT INTO <buffer> (__pgs_action, __pgs_weight<columns>)
        SELECT 'I', 1<values> FROM (SELECT <NEW fields>) n;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO <buffer> (__pgs_action, __pgs_weight<columns>)
        SELECT 'D', -1<values> FROM (SELECT <OLD fields>) n;
    ELSIF NOT record_image_eq(ROW(<OLD row>), ROW(<NEW row>)) THEN
        INSERT INTO <buffer> (__pgs_action, __pgs_weight<columns>)
        SELECT 'U', -1<values> FROM (SELECT <OLD fields>) n
        UNION ALL
        SELECT 'U', 1<values> FROM (SELECT <NEW fields>) n;
    END IF;
    RETURN NULL;
END
$template$, pgstream._capture_parts(p_relid))
$$;

GRANT EXECUTE ON FUNCTION pgstream._row_capture(oid) TO PUBLIC;
