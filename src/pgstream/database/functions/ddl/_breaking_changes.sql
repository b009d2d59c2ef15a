-- Which of these stream tables see other columns, another view or row security since the last
-- refresh, or miss what they read; and of what. Names and partitions do not count.
CREATE OR REPLACE FUNCTION pgstream._breaking_changes(
    p_ids bigint[], OUT pgs_id bigint, OUT reader text, OUT source text)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT c.pgs_id, format('%I.%I', t.pgs_schema, t.pgs_name),
           format('%I.%I', c.before ->> 'schema', c.before ->> 'name')
      FROM pgstream._changed_shapes(p_ids) c JOIN pgstream.pgs_stream_tables t USING (pgs_id)
     WHERE c.relid IS NOT NULL
       AND (c.after IS NULL OR c.after ? 'row security'
            OR (c.before -> 'columns') IS DISTINCT FROM (c.after -> 'columns')
            OR (c.before -> 'query') IS DISTINCT FROM (c.after -> 'query'))
     ORDER BY 2, 3
$$;

GRANT EXECUTE ON FUNCTION pgstream._breaking_changes(bigint[]) TO PUBLIC;
