SELECT k, array_agg(id) AS a, string_agg(g, ',') FILTER (WHERE x > 3) AS s FROM (SELECT id, k, g, x FROM t ORDER BY y DESC, id) q GROUP BY k;
SELECT array_agg(id) AS a FROM (SELECT id FROM t ORDER BY g NULLS FIRST, id DESC LIMIT 5) q HAVING count(*) > 0;
SELECT k, jsonb_agg(i) AS a, json_object_agg(i, g) AS o, any_value(i) AS f FROM (SELECT id + 1 AS i, k, g FROM (SELECT id, k, g, x FROM t ORDER BY y, id) p WHERE x > 2) q GROUP BY k;
WITH c(p, q) AS (SELECT id, k FROM t ORDER BY y DESC, id) SELECT z, array_agg(w) AS a FROM c AS d(w, z) GROUP BY z;
SELECT array_agg(i) AS a FROM (SELECT id AS i FROM t UNION ALL SELECT k FROM u ORDER BY 1 DESC NULLS LAST) q;
SELECT array_agg(g) AS a FROM (SELECT DISTINCT g FROM t ORDER BY g DESC) q;
SELECT array_agg(k) AS a FROM (SELECT DISTINCT ON (k) k FROM t ORDER BY k DESC, x) q;
SELECT array_agg(k) AS a FROM (SELECT k FROM t GROUP BY k ORDER BY count(*) DESC, k) q;
SELECT k, array_agg(id) AS a FROM (SELECT id, k FROM t ORDER BY x DESC, id) q GROUP BY ROLLUP (k);
SELECT json_arrayagg(id ABSENT ON NULL RETURNING jsonb) AS a, (array_agg(id))[2] AS b FROM (SELECT id FROM t ORDER BY x, id) q;
SELECT id, row_number() OVER () AS r, lag(id) OVER () AS l, ntile(2) OVER () AS n, last_value(id) OVER () AS v, sum(x) OVER () AS s,
    array_agg(id) OVER () AS a, count(x) OVER (ROWS 2 PRECEDING) AS c, rank() OVER () AS k FROM (SELECT id, x FROM t ORDER BY y DESC, id) q;
SELECT id, first_value(id) OVER (RANGE BETWEEN CURRENT ROW AND CURRENT ROW) AS f, nth_value(id, 2) OVER (PARTITION BY k) AS n,
    min(id) OVER (ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS m FROM (SELECT id, k FROM t ORDER BY k, y DESC, id) q;
SELECT id FROM (SELECT id FROM t ORDER BY y DESC, id) q WHERE id > 1 LIMIT 3 OFFSET 1;
SELECT u.id, r.i FROM u, LATERAL (SELECT q.id AS i FROM (SELECT t.id FROM t WHERE t.k = u.k ORDER BY t.y, t.id) q LIMIT 1) r;
SELECT id, (SELECT string_agg(q.g, ',') FROM (SELECT t.g FROM t WHERE t.k = u.k ORDER BY t.y, t.id) q) AS a FROM u;
SELECT id, (SELECT string_agg(w, ' ') FROM regexp_split_to_table(t.g || ' z b', ' ') w WHERE w <> 'q') AS a FROM t;
SELECT t.id, array_agg(e) AS a, array_agg(o) AS b FROM t LEFT JOIN unnest(ARRAY[t.g, 'z', 'b']) WITH ORDINALITY AS f(e, o) ON true GROUP BY t.id;
SELECT t.id, array_agg(e * 2) AS a FROM t JOIN u ON u.id = t.id, unnest(ARRAY[t.x, 3, 1]) e GROUP BY t.id;
SELECT array_agg(x) AS a FROM (VALUES (3, 'c'), (1, 'a'), (2, 'b')) v(x, y);
SELECT string_agg(column2, '') AS a FROM (VALUES (3, 'c'), (1, 'a'), (2, 'b')) v;
SELECT array_agg(x + y) AS a, array_agg(y) AS b FROM ROWS FROM (generate_series(3, 1, -1), unnest(ARRAY[30, 10, 20])) AS z(x, y);
SELECT "G g", array_agg("I") AS a FROM (SELECT id AS "I", g AS "G g" FROM t ORDER BY x DESC, "I") "S s" GROUP BY "G g";
SELECT u.id, array_agg(r.i) AS a FROM u, LATERAL (SELECT t.id AS i FROM t WHERE t.k = u.k ORDER BY t.y DESC, t.id) r GROUP BY u.id;
SELECT u.id, string_agg(r.g, ',') AS a FROM u JOIN e ON e.a = u.k LEFT JOIN LATERAL (SELECT t.g FROM t WHERE t.k = u.k ORDER BY t.y, t.id LIMIT 2) r ON r.g <> 'c' GROUP BY u.id;
SELECT (SELECT string_agg(t.g, ',' ORDER BY t.id) FROM (VALUES (1)) v(z)) AS a, (SELECT array_agg(v.z) FROM (VALUES (2), (1)) v(z)) AS b FROM t;
SELECT id, (SELECT array_agg(t.x) FROM (VALUES (1)) v(z)) IS NULL AS a, (SELECT e FROM unnest(ARRAY['b', t.g]) e LIMIT 1) AS b FROM t GROUP BY id;
