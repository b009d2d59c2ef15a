-- Why the slot does not hold all changes that are not in the buffers yet; NULL if it does.
CREATE OR REPLACE FUNCTION pgstream._slot_trouble() RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE
        WHEN w.slot_name IS NULL THEN 'no replication slot was made'
        WHEN s.slot_name IS NULL THEN format('the replication slot %s is gone', w.slot_name)
        WHEN s.database <> current_database() OR s.plugin <> 'pgoutput'
            THEN format('the replication slot %s is not ours', w.slot_name)
        WHEN s.wal_status = 'lost'
            THEN format('the server has removed WAL that the replication slot %s needs', w.slot_name)
        WHEN s.confirmed_flush_lsn > w.decoded_lsn
            THEN format('somebody else has read the replication slot %s or made it again',
                        w.slot_name)
        WHEN NOT EXISTS (SELECT FROM pg_publication WHERE pubname = w.publication_name)
            THEN format('the publication %s is gone', w.publication_name)
        END
      FROM (SELECT) one
      LEFT JOIN pgstream.pgs_wal w ON true
      LEFT JOIN pg_replication_slots s ON s.slot_name = w.slot_name
$$;

REVOKE ALL ON FUNCTION pgstream._slot_trouble() FROM PUBLIC;
