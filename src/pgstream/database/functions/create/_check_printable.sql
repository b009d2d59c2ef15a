-- Fail if the query would mean another operator once it is printed. SQL has no place for the schema
-- of the operator behind IS DISTINCT FROM, NULLIF, CASE x WHEN or USING. Printed and parsed again,
-- they would mean PostgreSQL's own.
CREATE OR REPLACE FUNCTION pgstream._check_printable(p_view oid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
DECLARE
    each_view oid;
    lost text;
BEGIN
    FOR each_view IN SELECT v FROM pgstream._views(p_view) v
                      WHERE pgstream._foreign_operators(v) <> '{}' LOOP
        DROP VIEW IF EXISTS pg_temp.__pgs_again;
        EXECUTE 'CREATE TEMPORARY VIEW __pgs_again AS ' || pgstream._view_text(each_view);
        SELECT min(o::regoperator::text) INTO lost
          FROM unnest(pgstream._foreign_operators(each_view)) o
         WHERE NOT o = ANY (pgstream._foreign_operators('pg_temp.__pgs_again'::regclass));
        DROP VIEW pg_temp.__pgs_again;
        IF lost IS NOT NULL THEN
            RAISE EXCEPTION USING ERRCODE = 'PS015',
                MESSAGE = format('the operator %s is used where its schema cannot be named', lost),
                DETAIL = 'IS DISTINCT FROM, NULLIF, CASE x WHEN y and USING take the operator '
                         'that the search path has when the query is read.',
                HINT = 'Write the comparison with the operator itself: a OPERATOR(schema.=) b.';
        END IF;
    END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._check_printable(oid) TO PUBLIC;
