-- Of the rows of scale factor 0.01 a tenth, with as many items for each order, part and supplier.
DELETE FROM lineitem WHERE l_orderkey IN (SELECT o_orderkey FROM orders WHERE o_custkey > 150);
DELETE FROM orders WHERE o_custkey > 150;
DELETE FROM customer WHERE c_custkey > 150;
UPDATE lineitem SET l_partkey = (l_partkey - 1) % 200 + 1, l_suppkey = (l_suppkey - 1) % 10 + 1;
CREATE TEMPORARY TABLE kept ON COMMIT DROP AS
SELECT DISTINCT ON (ps_partkey, (ps_suppkey - 1) % 10) ps_partkey, (ps_suppkey - 1) % 10 + 1,
    ps_availqty, ps_supplycost, ps_comment
FROM partsupp WHERE ps_partkey <= 200;
DELETE FROM partsupp;
INSERT INTO partsupp TABLE kept;
DELETE FROM part WHERE p_partkey > 200;
DELETE FROM supplier WHERE s_suppkey > 10;
ANALYZE;
