-- Does PostgreSQL refuse writes because a table is published, or might it before anybody notices?
-- An event trigger notices at once; without a superuser there is none.
CREATE OR REPLACE FUNCTION pgstream._check_published(
    OUT severity text, OUT subject text, OUT message text, OUT hint text)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'error', pgstream._relation_name(t.source_relid),
           'it is published, and UPDATE and DELETE may fail: ' || u.problem,
           'A worker takes it out of the publication, and so does a refresh of what reads it. '
           'Until then: ' || u.way_out
      FROM pgstream.pgs_change_tracking t
     CROSS JOIN LATERAL pgstream._unpublishable(t.source_relid) u
     WHERE t.wal_since IS NOT NULL AND u.problem IS NOT NULL
    UNION ALL
    SELECT 'notice', pgstream._publication_name(),
           'a table that is captured from the WAL and loses its REPLICA IDENTITY FULL refuses '
           'UPDATE and DELETE until a worker or a refresh notices',
           'Let a superuser run pgstream init: then it is noticed at once. Or set cdc_mode to '
           'trigger and refresh before such an ALTER TABLE.'
     WHERE EXISTS (SELECT FROM pgstream.pgs_change_tracking WHERE wal_since IS NOT NULL)
       AND NOT EXISTS (SELECT FROM pg_event_trigger
                        WHERE evtname = 'pg_stream_ddl_end' AND evtenabled IN ('O', 'A'))
$$;

GRANT EXECUTE ON FUNCTION pgstream._check_published() TO PUBLIC;
