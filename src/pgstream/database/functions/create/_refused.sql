-- The unsupported constructs that the stored tree of one view shows, without the views below it.
-- None is named that Python would accept: rows that may come in an order are left to the worker.
--
-- p_as_written: the view is the user's query, in which a view counts as a table; below, views are
-- inlined, and a sorted one gives its rows in an order.
CREATE OR REPLACE FUNCTION pgstream._refused(p_view oid, p_as_written bool) RETURNS SETOF text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE nodes AS MATERIALIZED (
        SELECT n.*, n.path[cardinality(n.path)] AS id, n.path[cardinality(n.path) - 1] AS parent
          FROM pg_rewrite r CROSS JOIN LATERAL pgstream._tree_nodes(r.ev_action::text) n
         WHERE r.ev_class = p_view AND r.ev_type = '1'
           -- Most trees have none of these, and need not be taken apart.
           AND r.ev_action::text ~ ':(?:limitCount|limitOffset) \{|:rowMarks \(|:inh false|\{TABLESAMPLE'),
    tables AS (  -- PostgreSQL 15 lists the view itself, as OLD and NEW
        SELECT * FROM nodes
         WHERE kind = 'RANGETBLENTRY' AND ':rtekind 0' = ANY (fields)
           AND NOT format(':relid %s', p_view) = ANY (fields)),
    limits AS (  -- LIMIT ALL, LIMIT NULL and OFFSET 0 leave nothing out
        SELECT parent AS query, slot FROM nodes n
         WHERE slot IN (':limitCount', ':limitOffset')
           AND NOT EXISTS (
                SELECT FROM nodes c
                 WHERE c.kind = 'CONST' AND n.id = ANY (c.path)
                   AND (':constisnull true' = ANY (c.fields)
                        OR n.slot = ':limitOffset'
                           AND EXISTS (SELECT FROM unnest(c.fields) f WHERE f ~ '\[(?: 0)+ \]')))),
    unordered(id) AS (
        SELECT q.id FROM nodes q
         WHERE q.kind = 'QUERY' AND ':sortClause <>' = ANY (q.fields)
           AND (NOT q.fields @> '{:groupClause <>,:groupingSets <>,:distinctClause <>,
                                  :setOperations <>,:hasAggs false,:hasWindowFuncs false}'
                OR EXISTS (SELECT FROM tables t
                            WHERE t.parent = q.id
                              AND (p_as_written OR NOT ':relkind v' = ANY (t.fields))))
        UNION
        SELECT q.id
          FROM unordered u
          JOIN nodes subquery ON subquery.id = u.id
          JOIN nodes item ON item.id = subquery.parent AND item.kind = 'RANGETBLENTRY'
          JOIN nodes q ON q.id = item.parent AND ':sortClause <>' = ANY (q.fields))
    SELECT found.construct
      FROM (SELECT 'LIMIT without ORDER BY', l.query
              FROM limits l JOIN unordered u ON u.id = l.query WHERE l.slot = ':limitCount'
            UNION ALL
            SELECT 'OFFSET without LIMIT', o.query
              FROM limits o
             WHERE o.slot = ':limitOffset'
               AND NOT EXISTS (SELECT FROM limits l
                                WHERE l.query = o.query AND l.slot = ':limitCount')
            UNION ALL
            SELECT 'TABLESAMPLE', n.id FROM nodes n WHERE n.kind = 'TABLESAMPLECLAUSE'
            UNION ALL
            SELECT 'FOR UPDATE / FOR SHARE', q.id
              FROM nodes q WHERE q.kind = 'QUERY' AND NOT ':rowMarks <>' = ANY (q.fields)
            UNION ALL
            SELECT 'ONLY', t.id FROM tables t WHERE ':inh false' = ANY (t.fields)
           ) found(construct, id)
     ORDER BY found.id
$$;

GRANT EXECUTE ON FUNCTION pgstream._refused(oid, boolean) TO PUBLIC;
