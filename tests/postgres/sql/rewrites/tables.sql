-- Tables with NULLs and duplicates.
CREATE TABLE t (id int PRIMARY KEY, k int, g text, x int, y numeric(10, 2), d date);
CREATE TABLE u (id int PRIMARY KEY, k int, x int, "odd Name" text);
CREATE TABLE e (gone int, a int, b int, c text);
ALTER TABLE e DROP COLUMN gone;
INSERT INTO t VALUES
 (1, 1, 'a', 10, 1.5, '2024-01-01'), (2, 1, 'a', NULL, 2.5, '2024-01-02'), (3, 1, 'b', 10, NULL, NULL),
 (4, 2, 'a', 5, 1.5, '2024-01-01'), (5, 2, NULL, 7, 7.25, '2024-02-01'), (6, NULL, 'b', 3, 1, '2024-01-05'),
 (7, NULL, NULL, NULL, NULL, NULL), (8, 3, 'c', 10, 1.5, '2024-01-01'), (9, 3, 'c', 20, 9, '2024-03-01');
INSERT INTO u VALUES
 (1, 1, 10, 'a'), (2, 1, 20, 'b'), (3, 2, NULL, 'a%'), (4, NULL, 5, NULL), (5, 4, 7, 'z'), (6, 2, 5, 'a');
INSERT INTO e VALUES
 (1, 1, 'x'), (1, 1, 'x'), (1, NULL, 'y'), (NULL, 2, 'y'), (2, 3, NULL), (NULL, NULL, NULL), (3, 10, 'x');
