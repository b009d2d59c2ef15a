-- Wait until all who have written to a source that is captured from the WAL have ended. Rows of
-- theirs may be decoded already, without the columns that a new reader reads: it must see them in
-- the table. A commit may be in the WAL, and so be decoded, before anybody sees it.
CREATE OR REPLACE FUNCTION pgstream._wait_for_writers(p_relid oid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('LOCK TABLE ONLY %s IN SHARE ROW EXCLUSIVE MODE',
                   pgstream._relation_name(p_relid));
END
$$;

REVOKE ALL ON FUNCTION pgstream._wait_for_writers(oid) FROM PUBLIC;
