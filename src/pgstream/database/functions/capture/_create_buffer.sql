-- Create the change buffer of a source.
CREATE OR REPLACE FUNCTION pgstream._create_buffer(p_relid oid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    buffer text := pgstream._buffer_name(p_relid);
BEGIN
    EXECUTE format(
        'CREATE TABLE %s ('
        '    __pgs_change_id bigserial,'
        '    __pgs_xid xid8 NOT NULL DEFAULT pg_current_xact_id(),'
        '    __pgs_lsn pg_lsn DEFAULT pg_current_wal_insert_lsn(),'
        '    __pgs_action char(1) NOT NULL,'
        '    __pgs_weight smallint NOT NULL)', buffer);
    EXECUTE format('CREATE INDEX ON %s (__pgs_xid)', buffer);
    -- Else its rows could not be deleted under a publication FOR ALL TABLES.
    EXECUTE format('ALTER TABLE %s REPLICA IDENTITY FULL', buffer);
    PERFORM pgstream._fit_buffer(p_relid);
END
$$;

REVOKE ALL ON FUNCTION pgstream._create_buffer(oid) FROM PUBLIC;
