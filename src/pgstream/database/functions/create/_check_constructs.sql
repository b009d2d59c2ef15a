-- Fail on constructs that no stream table supports, in the query or in a view below it.
CREATE OR REPLACE FUNCTION pgstream._check_constructs(p_view oid, p_query text) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    construct text;
    views text;
BEGIN
    SELECT c INTO construct FROM pgstream._refused(p_view, true) c LIMIT 1;
    IF construct IS NOT NULL THEN
        PERFORM pgstream._refuse(construct, p_query);
    END IF;
    SELECT c INTO construct
      FROM pgstream._views(p_view) v CROSS JOIN LATERAL pgstream._refused(v, false) c
     WHERE v <> p_view LIMIT 1;
    IF construct IS NOT NULL THEN
        SELECT string_agg(format('%s.%s', n.nspname, c.relname), ', ' ORDER BY c.oid) INTO views
          FROM pgstream._views(p_view) v
          JOIN pg_class c ON c.oid = v
          JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE v <> p_view;
        PERFORM pgstream._refuse(construct, p_note => format(
            ' The query includes those of its views: %s.', views));
    END IF;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._check_constructs(oid, text) TO PUBLIC;
