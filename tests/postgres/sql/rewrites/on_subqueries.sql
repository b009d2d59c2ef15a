SELECT t.id, u.id AS uid FROM t JOIN u ON t.k = u.k AND EXISTS (SELECT 1 FROM e WHERE e.a = t.k);
SELECT t.id, u.id AS uid FROM t JOIN u ON t.k = u.k AND (t.x, u.x) IN (SELECT a, b FROM e) JOIN e ON e.a = u.k AND e.b > (SELECT min(x) FROM u);
SELECT t.id, u.id AS uid FROM t JOIN u ON EXISTS (SELECT 1 FROM e WHERE e.a = t.k AND e.b = u.k) WHERE t.x > 3 OR u.x > 5;
SELECT t.k, count(*) AS n FROM t JOIN u ON t.k = u.k AND t.x NOT IN (SELECT b FROM e WHERE b IS NOT NULL) GROUP BY ROLLUP (t.k);
SELECT t.id FROM t WHERE t.k IN (SELECT u.k FROM u JOIN e ON e.a = u.k AND e.b >= (SELECT min(b) FROM e)) OR t.id = 1;
SELECT q.id FROM ((t a JOIN u b ON a.k = b.k AND a.x IN (SELECT b FROM e)) JOIN t q ON q.id = b.id), e WHERE e.a = q.k;
