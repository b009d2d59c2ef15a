-- Whether the publication has told all changes of a source since it was switched to the WAL.
CREATE OR REPLACE FUNCTION pgstream._is_published_whole(p_relid oid) RETURNS bool
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM pgstream.pgs_change_tracking t
          JOIN pg_publication_rel r ON r.oid = t.wal_membership
          JOIN pg_publication p ON p.oid = r.prpubid
         WHERE t.source_relid = p_relid AND r.prqual IS NULL AND r.prattrs IS NULL
           AND p.pubinsert AND p.pubupdate AND p.pubdelete AND p.pubtruncate)
$$;

GRANT EXECUTE ON FUNCTION pgstream._is_published_whole(oid) TO PUBLIC;
