-- Per captured source how much waits in its buffer, and who reads it. Counts the rows.
CREATE OR REPLACE FUNCTION pgstream.change_buffer_sizes()
RETURNS TABLE (
    source_relid bigint, source_table text, pending_rows bigint, buffer_bytes bigint,
    readers text[])
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    tracked record;
    buffer regclass;
BEGIN
    FOR tracked IN SELECT t.source_relid, t.tracked_by_pgs_ids
                     FROM pgstream.pgs_change_tracking t ORDER BY t.source_relid LOOP
        source_relid := tracked.source_relid;
        source_table := pgstream._relation_name(tracked.source_relid);
        readers := ARRAY(SELECT format('%I.%I', st.pgs_schema, st.pgs_name)
                           FROM pgstream.pgs_stream_tables st
                          WHERE st.pgs_id = ANY (tracked.tracked_by_pgs_ids) ORDER BY 1);
        buffer := to_regclass(pgstream._buffer_name(tracked.source_relid));
        pending_rows := NULL;
        buffer_bytes := pg_total_relation_size(buffer);
        IF buffer IS NOT NULL THEN
            EXECUTE format('SELECT count(*) FROM %s', buffer) INTO pending_rows;
        END IF;
        RETURN NEXT;
    END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream.change_buffer_sizes() TO PUBLIC;
