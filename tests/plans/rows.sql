INSERT INTO customers SELECT i, 'c' || i, CASE i % 4 WHEN 0 THEN 'north' WHEN 1 THEN 'south' WHEN 2 THEN 'west' END,
    nullif(i / 3, 0) FROM generate_series(1, 20) i;
INSERT INTO products SELECT i, 'sku' || i, CASE WHEN i % 3 > 0 THEN 'label' || i END, i % 4 FROM generate_series(1, 12) i;
INSERT INTO orders SELECT i, nullif(i * 7 % 23, 0) % 21, 1 + i * 5 % 15, date '2024-01-01' + i % 40,
    CASE WHEN i % 11 > 0 THEN i * 37 % 150 END, CASE WHEN i % 2 = 0 THEN 'note' END
    FROM generate_series(1, 200) i WHERE (i * 7 % 23) % 21 > 0;
INSERT INTO returns SELECT nullif(i * 3 % 90, 0), 'r' || i % 5, CASE WHEN i % 4 > 0 THEN i % 30 END
    FROM generate_series(1, 80) i;
INSERT INTO returns SELECT * FROM returns WHERE reason = 'r1';
