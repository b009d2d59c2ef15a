-- The triggers that capture the changes of a source: where, on what. PostgreSQL gives partitions
-- those for rows, but not those for TRUNCATE, and inheritance children none. A statement fires
-- those of the table that it names; its rows in children are among that table's.
CREATE OR REPLACE FUNCTION pgstream._wanted_triggers(
    p_relid oid, OUT relid oid, OUT event text, OUT referencing text)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT tables.relid, v.event, v.referencing
      FROM (SELECT p_relid, true
            UNION ALL
            SELECT m, c.relkind <> 'p'
              FROM pgstream._members(p_relid) m JOIN pg_class c ON c.oid = p_relid
           ) tables(relid, has_all)
     CROSS JOIN (VALUES ('INSERT', 'REFERENCING NEW TABLE AS __pgs_new'),
                   ('UPDATE', 'REFERENCING OLD TABLE AS __pgs_old NEW TABLE AS __pgs_new'),
                   ('DELETE', 'REFERENCING OLD TABLE AS __pgs_old'),
                   ('TRUNCATE', NULL)) v(event, referencing)
     WHERE tables.has_all OR v.event = 'TRUNCATE'
$$;

GRANT EXECUTE ON FUNCTION pgstream._wanted_triggers(oid) TO PUBLIC;
