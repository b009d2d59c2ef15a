-- Keep all that these stream tables read from being altered or renamed until the transaction ends.
-- Other kinds of relations cannot be locked. Gives the transaction's id.
CREATE OR REPLACE FUNCTION pgstream._hold_sources(p_ids bigint[]) RETURNS xid8
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    sources text := (
        SELECT string_agg(format('ONLY %I.%I', n.nspname, c.relname), ', ' ORDER BY c.oid)
          FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relkind IN ('r', 'p') AND c.oid IN (
            SELECT source_relid FROM pgstream.pgs_dependencies
             WHERE pgs_id = ANY (p_ids) AND source_type <> 'VIEW'));
BEGIN
    IF sources IS NOT NULL THEN
        EXECUTE format('LOCK TABLE %s IN ACCESS SHARE MODE', sources);
    END IF;
    RETURN pg_current_xact_id();
END
$$;

REVOKE ALL ON FUNCTION pgstream._hold_sources(bigint[]) FROM PUBLIC;
