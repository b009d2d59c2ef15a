-- Refuse DDL on these relations that changes what stream tables read, or let their readers start
-- again; and see to it that no write fails because a table is published. Each refresh finds all of
-- it out by itself; so if this fails, the DDL does not.
CREATE OR REPLACE FUNCTION pgstream._notice_ddl(p_relids oid[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ids bigint[] := pgstream._touched_readers(p_relids);
    sources text;
    readers text;
    touched bigint[];
BEGIN
    PERFORM pgstream._leave_publication();
    IF ids = '{}' THEN
        RETURN;
    END IF;
    SELECT string_agg(DISTINCT source, ', '), string_agg(DISTINCT reader, ', '), array_agg(pgs_id)
      INTO sources, readers, touched FROM pgstream._breaking_changes(ids);
    IF sources IS NULL THEN
        RETURN;
    END IF;
    IF lower(current_setting('pg_stream.block_source_ddl', true)) IN ('on', 'true', '1', 'yes') THEN
        PERFORM pgstream._refuse_ddl(sources, readers);
    END IF;
    UPDATE pgstream.pgs_stream_tables
       SET needs_reinit = true, reinit_reason = format('DDL on %s', sources)
     WHERE pgs_id = ANY (touched);
EXCEPTION
    WHEN SQLSTATE 'PS023' THEN
        RAISE;
    WHEN OTHERS THEN
        RAISE WARNING 'pgstream will notice this at the next refresh: %', SQLERRM;
END
$$;

REVOKE ALL ON FUNCTION pgstream._notice_ddl(oid[]) FROM PUBLIC;
