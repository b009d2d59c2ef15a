-- What publishes a source: the oid of its row in pg_publication_rel; NULL if nothing does. A table
-- that was taken out and put back has another one.
CREATE OR REPLACE FUNCTION pgstream._membership(p_relid oid) RETURNS oid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT r.oid FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid
     WHERE r.prrelid = p_relid AND p.pubname = pgstream._publication_name()
$$;

GRANT EXECUTE ON FUNCTION pgstream._membership(oid) TO PUBLIC;
