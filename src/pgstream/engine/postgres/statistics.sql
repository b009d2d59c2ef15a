-- Of each table: how many rows it may have, how many different values its columns have, what share of
-- them is NULL, and which of them are unique. A table that was never analyzed has some 60 rows on a
-- page. Of a partitioned table the statistics of all its rows count.
WITH asked AS (
    SELECT c.oid, a.schema, a.name
    FROM unnest(%(schemas)s::text[], %(names)s::text[]) a(schema, name)
    JOIN pg_namespace n ON n.nspname = a.schema
    JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = a.name
), parts AS (
    SELECT asked.oid, c.reltuples, c.relpages,
           pg_relation_size(c.oid) / current_setting('block_size')::bigint AS pages
    FROM asked
    CROSS JOIN LATERAL (
        SELECT relid FROM pg_partition_tree(asked.oid) WHERE isleaf
        UNION SELECT asked.oid) part
    JOIN pg_class c ON c.oid = part.relid AND c.relkind <> 'p'
), sizes AS (
    SELECT oid, sum(CASE WHEN relpages > 0 AND reltuples >= 0 THEN reltuples / relpages * pages
                         WHEN pages > 0 THEN 60 * pages
                         ELSE greatest(reltuples, 0) END)::float8 AS rows
    FROM parts GROUP BY oid
), columns AS (
    SELECT asked.oid, jsonb_object_agg(s.attname, s.n_distinct ORDER BY s.inherited) AS known,
           jsonb_object_agg(s.attname, s.null_frac ORDER BY s.inherited) AS nulls
    FROM asked JOIN pg_stats s ON s.schemaname = asked.schema AND s.tablename = asked.name
    WHERE s.schemaname = ANY (%(schemas)s::text[]) AND s.tablename = ANY (%(names)s::text[])
    GROUP BY asked.oid
), keys AS (
    SELECT asked.oid, array_agg(a.attname::text) AS columns
    FROM asked JOIN pg_index i ON i.indrelid = asked.oid AND i.indisunique AND i.indnkeyatts = 1
        AND i.indpred IS NULL
    JOIN pg_attribute a ON a.attrelid = asked.oid AND a.attnum = i.indkey[0]
    GROUP BY asked.oid
)
SELECT asked.schema, asked.name, coalesce(sizes.rows, 0), coalesce(columns.known, '{}'),
       coalesce(columns.nulls, '{}'), coalesce(keys.columns, '{}')
FROM asked LEFT JOIN sizes USING (oid) LEFT JOIN columns USING (oid) LEFT JOIN keys USING (oid)
