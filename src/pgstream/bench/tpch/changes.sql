-- One round of changes per table: `n` rows each are inserted, updated and deleted, a third of the
-- share that is asked for. An order comes and goes with its items, and nothing goes that others
-- refer to. Of 25 nations and 5 regions one row is far more than its share, so these get another
-- comment, which no query reads.

-- region
UPDATE region SET r_comment = 'changed ' || random() WHERE r_regionkey = 1

-- nation
UPDATE nation SET n_comment = 'changed ' || random() WHERE n_nationkey = 1

-- supplier
UPDATE supplier SET s_acctbal = s_acctbal + 10, s_nationkey = (s_nationkey + 3) %% 25
WHERE s_suppkey IN (SELECT s_suppkey FROM supplier ORDER BY random() LIMIT %(n)s);
INSERT INTO supplier
SELECT (SELECT max(s_suppkey) FROM supplier) + row_number() OVER (), s_name, s_address,
       s_nationkey, s_phone, s_acctbal, s_comment
FROM (SELECT * FROM supplier ORDER BY random() LIMIT %(n)s) model;
DELETE FROM supplier WHERE s_suppkey IN (
    SELECT s_suppkey FROM supplier
    WHERE NOT EXISTS (SELECT FROM partsupp WHERE ps_suppkey = s_suppkey)
      AND NOT EXISTS (SELECT FROM lineitem WHERE l_suppkey = s_suppkey)
    ORDER BY s_suppkey LIMIT %(n)s - 1)

-- part
UPDATE part SET p_size = p_size %% 50 + 1, p_retailprice = p_retailprice + 1
WHERE p_partkey IN (SELECT p_partkey FROM part ORDER BY random() LIMIT %(n)s);
UPDATE part SET p_brand = 'Brand#23', p_container = 'MED BOX', p_type = 'PROMO BRUSHED BRASS'
WHERE p_partkey IN (SELECT p_partkey FROM part ORDER BY random() LIMIT %(n)s);
INSERT INTO part
SELECT (SELECT max(p_partkey) FROM part) + row_number() OVER (), p_name, p_mfgr, p_brand, p_type,
       p_size, p_container, p_retailprice, p_comment
FROM (SELECT * FROM part ORDER BY random() LIMIT %(n)s) model

-- partsupp
UPDATE partsupp SET ps_supplycost = ps_supplycost * 0.9, ps_availqty = ps_availqty / 2
WHERE (ps_partkey, ps_suppkey) IN (
    SELECT ps_partkey, ps_suppkey FROM partsupp ORDER BY random() LIMIT %(n)s);
INSERT INTO partsupp
SELECT p_partkey, s_suppkey, 100, 1.5, 'new'
FROM (SELECT p_partkey FROM part ORDER BY random() LIMIT %(n)s) p
CROSS JOIN (SELECT s_suppkey FROM supplier ORDER BY random() LIMIT 1) s
ON CONFLICT DO NOTHING;
DELETE FROM partsupp WHERE (ps_partkey, ps_suppkey) IN (
    SELECT ps_partkey, ps_suppkey FROM partsupp WHERE NOT EXISTS (
        SELECT FROM lineitem WHERE l_partkey = ps_partkey AND l_suppkey = ps_suppkey)
    ORDER BY ps_partkey LIMIT %(n)s)

-- customer
UPDATE customer SET c_acctbal = c_acctbal + 100,
    c_mktsegment = CASE c_mktsegment WHEN 'BUILDING' THEN 'MACHINERY' ELSE 'BUILDING' END
WHERE c_custkey IN (SELECT c_custkey FROM customer ORDER BY random() LIMIT %(n)s);
INSERT INTO customer
SELECT (SELECT max(c_custkey) FROM customer) + row_number() OVER (), c_name, c_address, c_nationkey,
       c_phone, c_acctbal, c_mktsegment, c_comment
FROM (SELECT * FROM customer ORDER BY random() LIMIT %(n)s) model;
DELETE FROM customer WHERE c_custkey IN (
    SELECT c_custkey FROM customer WHERE NOT EXISTS (SELECT FROM orders WHERE o_custkey = c_custkey)
    ORDER BY random() LIMIT %(n)s)

-- orders
WITH gone AS (
    DELETE FROM orders WHERE o_orderkey IN (
        SELECT o_orderkey FROM orders ORDER BY random() LIMIT %(n)s) RETURNING o_orderkey)
DELETE FROM lineitem USING gone WHERE l_orderkey = gone.o_orderkey;
WITH last AS MATERIALIZED (SELECT max(o_orderkey) AS o_orderkey FROM orders),
model AS MATERIALIZED (SELECT * FROM orders ORDER BY random() LIMIT %(n)s),
made AS (
    INSERT INTO orders
    SELECT last.o_orderkey + m.o_orderkey, o_custkey, o_orderstatus, o_totalprice + 1, o_orderdate,
           o_orderpriority, o_clerk, o_shippriority, o_comment
    FROM model m, last)
INSERT INTO lineitem
SELECT last.o_orderkey + l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity + 40,
       l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate,
       l_receiptdate, l_shipinstruct, l_shipmode, l_comment
FROM lineitem JOIN model m ON l_orderkey = m.o_orderkey CROSS JOIN last;
UPDATE orders SET o_totalprice = o_totalprice + 1, o_orderdate = o_orderdate + 10,
    o_custkey = o_custkey %% (SELECT max(c_custkey) FROM customer) + 1
WHERE o_orderkey IN (SELECT o_orderkey FROM orders ORDER BY random() LIMIT %(n)s)

-- lineitem
UPDATE lineitem SET l_quantity = l_quantity + 1, l_extendedprice = l_extendedprice * 1.1,
    l_discount = 0.06, l_shipdate = l_shipdate + 30, l_receiptdate = l_receiptdate + 30
WHERE (l_orderkey, l_linenumber) IN (
    SELECT l_orderkey, l_linenumber FROM lineitem ORDER BY random() LIMIT %(n)s)
