-- Make every read of a stream table fail that could not be built: an empty table would look like
-- a result. PostgreSQL has no trigger for reads, but to plan a statement it evaluates the
-- predicates of a table's indexes. One that is made again is evaluated again by every session.
-- Without the lock or the right to make the index, reads find the table empty.
CREATE OR REPLACE FUNCTION pgstream._seal(p_id bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s' AS $$
DECLARE
    relation text := (SELECT pgstream._relation_name(c.oid)
                        FROM pgstream.pgs_stream_tables t JOIN pg_class c ON c.oid = t.pgs_relid
                       WHERE t.pgs_id = p_id AND NOT t.is_populated);
BEGIN
    IF relation IS NOT NULL THEN
        PERFORM pgstream._unseal(p_id);
        EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON %s (__pgs_row_id) '
                       'WHERE pgstream._require_built(%s)',
                       pgstream._seal_name(p_id), relation, p_id);
    END IF;
EXCEPTION WHEN lock_not_available OR insufficient_privilege THEN
    NULL;
END
$$;

REVOKE ALL ON FUNCTION pgstream._seal(bigint) FROM PUBLIC;
