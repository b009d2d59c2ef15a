-- Make sure that the changes of a source are captured, with all that its readers read, as its shape
-- is now. A new reader widens the buffer; who reads it already misses nothing. If triggers were
-- missing, or a column has another type, changes are lost, and those who read them start again.
-- The worker writes the buffer of a stream table, so that has no triggers.
CREATE OR REPLACE FUNCTION pgstream._install_capture(relid oid, reader bigint DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    source oid := relid;
    name text := pgstream._relation_name(relid);
    is_stream_table bool := EXISTS (
        SELECT FROM pgstream.pgs_stream_tables WHERE pgs_relid = source);
    is_new bool;
    differs bool;
    intact bool := true;
    created int := 0;
    lost text[] := '{}';
BEGIN
    PERFORM pgstream._lock_source(source);
    is_new := to_regclass(pgstream._buffer_name(source)) IS NULL;
    PERFORM pgstream._check_capturable(source);
    PERFORM pgstream._require_right(source, 'SELECT');
    IF NOT is_stream_table THEN
        PERFORM pgstream._require_right(source, 'TRIGGER');
    END IF;
    differs := pgstream._note_reader(source, reader);
    IF is_new THEN
        PERFORM pgstream._create_buffer(source);
    ELSIF differs THEN
        lost := pgstream._fit_buffer(source);
    END IF;
    IF NOT is_stream_table AND NOT pgstream._is_wal_captured(source) THEN
        PERFORM pgstream._create_capture_function(source);
        intact := pgstream._has_its_triggers(source);
        created := pgstream._create_triggers(source, p_wait => differs);
    ELSIF differs AND NOT is_stream_table THEN
        PERFORM pgstream._wait_for_writers(source);
    END IF;
    IF is_new OR created > 0 OR NOT intact THEN
        PERFORM pgstream._ask_for_reinit(
            source, NULL, reader, format('capture of %s was missing or disabled', name));
    ELSIF lost <> '{}' THEN
        PERFORM pgstream._ask_for_reinit(
            source, lost, reader, format('columns of %s have other types', name));
    END IF;
END
$$;

REVOKE ALL ON FUNCTION pgstream._install_capture(oid, bigint) FROM PUBLIC;
