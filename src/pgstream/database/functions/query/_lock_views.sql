-- Lock a view and all that is below it. PREPARE makes PostgreSQL rewrite the view, which takes the
-- locks: until the transaction ends nobody replaces a view whose definition is checked and stored.
CREATE OR REPLACE FUNCTION pgstream._lock_views(p_view oid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('PREPARE __pgs_lock AS SELECT FROM pg_temp.%I',
                   (SELECT relname FROM pg_class WHERE oid = p_view));
    DEALLOCATE __pgs_lock;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._lock_views(oid) TO PUBLIC;
