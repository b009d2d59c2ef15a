-- The partitions or children below a table, and since when each is one: the transactions that
-- attached it. NULL if there are none.
CREATE OR REPLACE FUNCTION pgstream._member_stamps(p_relid oid) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT jsonb_object_agg(member, since)
      FROM (SELECT i.inhrelid, string_agg(i.xmin::text, ' ' ORDER BY i.inhparent)
              FROM pgstream._members(p_relid) m JOIN pg_inherits i ON i.inhrelid = m
             GROUP BY i.inhrelid) stamps(member, since)
$$;

GRANT EXECUTE ON FUNCTION pgstream._member_stamps(oid) TO PUBLIC;
