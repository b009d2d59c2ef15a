-- One round of changes: some rows of every table, and of every column that a query looks at.
UPDATE region SET r_name = CASE r_name WHEN 'ASIA' THEN 'EUROPE' ELSE 'ASIA' END
WHERE r_name IN ('ASIA', 'EUROPE');
UPDATE nation SET n_regionkey = (n_regionkey + 1) % 5 WHERE n_nationkey IN (6, 24);
UPDATE supplier SET s_nationkey = (s_nationkey + 3) % 25, s_acctbal = s_acctbal + 10
WHERE s_suppkey % 20 = 1;
UPDATE supplier SET s_comment = 'Customer and its Complaints' WHERE s_suppkey = 50;
UPDATE part SET p_size = p_size % 50 + 1, p_type = 'PROMO BRUSHED BRASS' WHERE p_partkey % 100 = 1;
UPDATE part SET p_brand = 'Brand#23', p_container = 'MED BOX' WHERE p_partkey % 250 = 2;
UPDATE part SET p_type = 'ECONOMY ANODIZED STEEL', p_brand = 'Brand#12', p_container = 'SM CASE',
    p_size = 3 WHERE p_partkey % 100 = 5;
UPDATE supplier SET s_nationkey = 3 WHERE s_suppkey % 20 = 2;
UPDATE supplier SET s_nationkey = 2 WHERE s_suppkey % 10 = 3;
UPDATE partsupp SET ps_supplycost = ps_supplycost + 1, ps_availqty = ps_availqty / 2
WHERE ps_partkey % 100 = 1;
DELETE FROM partsupp WHERE ps_partkey % 400 = 7 AND ps_suppkey % 2 = 0;
UPDATE customer SET c_mktsegment = 'BUILDING', c_acctbal = c_acctbal - 100
WHERE c_custkey % 150 = 1;
UPDATE customer SET c_phone = '13-' || substring(c_phone FROM 4) WHERE c_custkey % 150 = 3;
UPDATE orders SET o_orderdate = o_orderdate + 40, o_orderstatus = 'F' WHERE o_orderkey % 400 = 1;
UPDATE orders SET o_custkey = o_custkey % 1500 + 1, o_comment = 'special requests'
WHERE o_orderkey % 400 = 2;
DELETE FROM lineitem WHERE l_orderkey % 400 = 3;
DELETE FROM orders WHERE o_orderkey % 400 = 3;
INSERT INTO orders SELECT o_orderkey + 1000000, o_custkey, o_orderstatus, o_totalprice + 1,
    o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
FROM orders WHERE o_orderkey % 400 = 4;
INSERT INTO lineitem SELECT l_orderkey + 1000000, l_partkey, l_suppkey, l_linenumber,
    l_quantity + 40, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate,
    l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
FROM lineitem WHERE l_orderkey % 400 = 4;
UPDATE lineitem SET l_quantity = l_quantity + 10, l_discount = 0.06, l_shipdate = l_shipdate + 30
WHERE l_orderkey % 400 = 5;
UPDATE lineitem SET l_suppkey = l_suppkey % 100 + 1, l_receiptdate = l_commitdate + 1
WHERE l_orderkey % 400 = 6;
UPDATE lineitem SET l_extendedprice = l_extendedprice + 1 WHERE l_orderkey % 50 = 7;
UPDATE lineitem SET l_shipinstruct = 'DELIVER IN PERSON', l_shipmode = 'AIR', l_quantity = 5
WHERE l_partkey % 100 = 5 AND l_linenumber = 1;
