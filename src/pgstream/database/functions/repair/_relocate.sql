-- Find the tables of all stream tables by name. The numbers are unique, so all of them go first.
CREATE OR REPLACE FUNCTION pgstream._relocate() RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    UPDATE pgstream.pgs_stream_tables SET pgs_relid = (4294967295 - pgs_id)::oid
     WHERE pgs_relid IS DISTINCT FROM to_regclass(format('%I.%I', pgs_schema, pgs_name))::oid;
    UPDATE pgstream.pgs_stream_tables t SET pgs_relid = c.oid
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = t.pgs_schema AND c.relname = t.pgs_name AND c.relkind = 'r'
       AND t.pgs_relid <> c.oid
$$;

REVOKE ALL ON FUNCTION pgstream._relocate() FROM PUBLIC;
