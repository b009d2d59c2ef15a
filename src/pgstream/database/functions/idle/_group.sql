-- What is refreshed together with each of these stream tables: itself and all that it reads,
-- directly or not, without those at rest that hold a result. What is read has the greater depth.
CREATE OR REPLACE FUNCTION pgstream._group(
    p_ids bigint[], p_resting text[], OUT asked bigint, OUT pgs_id bigint, OUT depth int)
RETURNS SETOF record
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH RECURSIVE members(asked, pgs_id, depth) AS (
        SELECT id, id, 0 FROM unnest(p_ids) id
        UNION
        SELECT m.asked, t.pgs_id, m.depth + 1
          FROM members m
          JOIN pgstream.pgs_dependencies d
            ON d.pgs_id = m.pgs_id AND d.source_type = 'STREAM_TABLE'
          JOIN pgstream.pgs_stream_tables t ON t.pgs_relid = d.source_relid)
    SELECT m.asked, m.pgs_id, max(m.depth)
      FROM members m LEFT JOIN pgstream.pgs_stream_tables t ON t.pgs_id = m.pgs_id
     WHERE m.asked = m.pgs_id OR NOT (t.is_populated AND t.status = ANY (p_resting))
     GROUP BY m.asked, m.pgs_id;
END
$$;

REVOKE ALL ON FUNCTION pgstream._group(bigint[], text[]) FROM PUBLIC;
