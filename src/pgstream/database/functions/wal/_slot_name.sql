-- The name of this database's replication slot: slots belong to the whole server.
CREATE OR REPLACE FUNCTION pgstream._slot_name() RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('pg_stream_slot_%s', oid) FROM pg_database WHERE datname = current_database()
$$;

GRANT EXECUTE ON FUNCTION pgstream._slot_name() TO PUBLIC;
