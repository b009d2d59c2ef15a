-- Why a table must not be published, and the way out; NULL if it may be. PostgreSQL refuses UPDATE
-- and DELETE of a published table that has no REPLICA IDENTITY, or one with columns that are not
-- published.
CREATE OR REPLACE FUNCTION pgstream._unpublishable(
    p_relid oid, OUT problem text, OUT way_out text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (SELECT relreplident <> 'f' FROM pg_class WHERE oid = p_relid) THEN
        problem := 'its REPLICA IDENTITY is not FULL: of rows that are updated or deleted the WAL '
                   'has the key, and a stream table needs all columns';
        way_out := format('ALTER TABLE %s REPLICA IDENTITY FULL', pgstream._relation_name(p_relid));
    ELSIF EXISTS (SELECT FROM pg_attribute
                   WHERE attrelid = p_relid AND NOT attisdropped AND attgenerated <> ''
                     AND (attgenerated = 'v'
                          OR current_setting('server_version_num')::int < 180000)) THEN
        problem := 'it has a generated column that PostgreSQL does not publish';
        way_out := 'Drop the column, or keep the table on triggers.';
    END IF;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._unpublishable(oid) TO PUBLIC;
