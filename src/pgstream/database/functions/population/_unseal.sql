-- Let a stream table be read again. If somebody holds a lock on it the seal stays, and does not
-- matter once the table is populated.
CREATE OR REPLACE FUNCTION pgstream._unseal(p_id bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s' AS $$
DECLARE
    seal text := (SELECT format('%I.%I', n.nspname, c.relname)
                    FROM pgstream.pgs_stream_tables t
                    JOIN pg_index i ON i.indrelid = t.pgs_relid
                    JOIN pg_class c ON c.oid = i.indexrelid
                    JOIN pg_namespace n ON n.oid = c.relnamespace
                   WHERE t.pgs_id = p_id AND c.relname = pgstream._seal_name(p_id));
BEGIN
    IF seal IS NOT NULL THEN
        EXECUTE concat('DROP INDEX ', seal);
    END IF;
EXCEPTION WHEN lock_not_available OR insufficient_privilege THEN
    NULL;
END
$$;

REVOKE ALL ON FUNCTION pgstream._unseal(bigint) FROM PUBLIC;
