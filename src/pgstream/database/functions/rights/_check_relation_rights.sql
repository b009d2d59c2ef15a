-- Fail if p_caller, or the owner of a view in between, may not read what the view reads, or if the
-- role that runs pgstream may not.
CREATE OR REPLACE FUNCTION pgstream._check_relation_rights(p_view oid, p_caller oid) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    source record;
BEGIN
    FOR source IN
        SELECT s.relid, s.columns, c.relkind, pgstream._view_reader(v, p_caller) AS reader,
               EXISTS (SELECT FROM pg_rewrite r
                        WHERE r.ev_class = v AND r.ev_type = '1'
                          AND r.ev_action::text LIKE '%:varattno 0 %') AS whole_row
          FROM pgstream._views(p_view) v
         CROSS JOIN LATERAL pgstream._direct_sources(v) s
          JOIN pg_class c ON c.oid = s.relid
    LOOP
        PERFORM pgstream._check_readable(source.relid);
        PERFORM pgstream._require_readable(
            source.relid, source.columns, source.whole_row, source.reader);
        IF source.relkind <> 'v' THEN
            PERFORM pgstream._require_right(source.relid, 'SELECT');
        END IF;
    END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._check_relation_rights(oid, oid) TO PUBLIC;
