-- Edge values of every type. s2, s4, s8, n, m, r and f can be added and multiplied without an
-- error; i2, i4, i8, er and ef hold the smallest and the largest;
-- q, h and g lie halfway between integers; w has no decimals; fd, ft and fz are finite, month ends and changes of clocks.
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE pair AS (a int, b text);
CREATE TABLE v (
    id int PRIMARY KEY, s2 smallint, s4 int, s8 bigint, i2 smallint, i4 int, i8 bigint,
    n numeric(12, 3), m numeric, r real, f double precision, er real, ef double precision,
    b boolean, s text, vc varchar(5), c char(4), bt bytea, un uuid, e mood,
    d date, ts timestamp, tz timestamptz, ti time, iv interval, j jsonb, a int[], p pair,
    rg int4range, ip inet,
    q numeric(5, 2), h real, g double precision, fd date, ft timestamp, fz timestamptz,
    w numeric);
INSERT INTO v VALUES
 (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, false, '', '', '', '', '00000000-0000-0000-0000-000000000000',
  'sad', '2000-01-01', '2000-01-01 00:00', '2000-01-01 00:00+00', '00:00', '0', '{}', '{}', '(0,)', 'empty', '0.0.0.0',
  0, 0, 0, '2024-01-31', '2024-01-31 12:00', '2024-01-31 12:00+00', 0),
 (2, 181, 46340, 3037000499, 32767, 2147483647, 9223372036854775807, 123456.789, 0.1, 1.5, 1.1, 3.4028235e38,
  1.7976931348623157e308, true, 'a.b|c', 'a.b', 'ab', '\x00ff', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'ok',
  '2024-02-29', '2024-02-29 23:59:59.999999', '2024-03-31 00:59:59.999999+00', '24:00', '1 mon -1 day 03:04:05.6',
  '{"a": {"b": [1, 2.50, null]}, "k": "v"}', '{1,NULL,-3}', '(1,"x ""y""")', '[1,5)', '10.1.2.3/8',
  0.5, 0.5, 0.5, '2024-02-29', '2024-02-29 23:59:59.999999', '2024-03-31 00:59:59.999999+00', 1),
 (3, -181, -46340, -3037000499, -32768, -2147483648, -9223372036854775808, -123456.789, -2.50, -2.5, -0.1, -3.4028235e38,
  -1.7976931348623157e308, NULL, 'Éclair 😀', 'Écl😀', 'a', '\x', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'happy',
  '0044-03-15 BC', '0001-01-01 00:00 BC', '4713-01-01 00:00+00 BC', '23:59:59.999999', '-1 year', '[]', '{{1,2},{3,4}}',
  '(,)', '(,)', '::1',
  1.5, 1.5, 1.5, '2023-02-28', '2024-03-31 02:30', '2024-03-31 01:00+00', 2),
 (4, 7, 7, 7, 7, 7, 7, 7.5, 7.000, 'NaN', 'NaN', 'NaN', 'NaN', true, 'a', 'a', 'a  ', '\x61', NULL, 'ok', 'infinity',
  'infinity', 'infinity', '12:00', '1 day', '"a"', '{7}', '(7,a)', '[7,)', '10.0.0.0/8',
  2.5, 2.5, 2.5, '1900-03-01', '1883-11-18 12:00', '1883-11-18 12:00+00', -4),
 (5, -7, -7, -7, -7, -7, -7, -7.5, -0.0005, 'Infinity', 'Infinity', '-Infinity', '-Infinity', false, 'e' || U&'\0301',
  'e' || U&'\0301', 'É', '\x5c', NULL, 'sad', '-infinity', '-infinity', '-infinity', '00:00:00.000001', '-00:00:01',
  '[1, "b", {"c": null}]', '{-7,7}', '(-7,)', '(,-7)', '192.168.0.1',
  -0.5, -0.5, -0.5, '1999-12-31', '2024-10-27 02:30', '2024-10-27 00:30+00', 8),
 (6, 1, 1, 1, 1, 1, 1, 0.001, 12345678901.25, -0.0, -0.0, 1e-45, 5e-324, true, 'A,B,,C', 'A,B', 'A', '\x27', NULL,
  'happy', '9999-12-31', '9999-12-31 23:59:59', '10000-01-01 00:00+00', '01:02:03', '25:00:00', 'null', '{1}', '(1,b)',
  '[1,2)', '127.0.0.1',
  -1.5, -1.5, -1.5, '2000-01-01', '2024-10-27 01:30', '2024-10-27 01:30+00', 3),
 (7, -1, -1, -1, -1, -1, -1, 0.5, 2.5, 2.5, 0.5, -0.0, -0.0, false, $$it's "q" \ %_$$, 'q\''', '%_', '\x22', NULL,
  NULL, '10000-01-01', '294276-12-31 23:59:59.999999', '294276-12-31 23:59:59.999999+00', '10:00', '30 days',
  'true', '{2,1}', '(2,c)', '[-1,1]', '127.0.0.1/24',
  -2.5, -2.5, -2.5, '0001-01-01', '0001-01-01 00:00 BC', '0001-01-01 00:00+00 BC', -1),
 (8, 2, 2, 2, 2, 2, 2, -0.5, -1.5, -0.5, 3.5, 1.5, 0.3, true, '12', ' 12 ', '12', '\x3132', NULL, 'ok', '2024-10-27',
  '2024-10-27 02:30', '2024-10-27 00:30+00', '02:30', '1 mon', '12', '{0,0}', '(12,12)', '[2,2]', 'fe80::1/64',
  999.99, 99.5, 99.5, '2024-12-30', '2024-12-31 00:00', '2024-12-31 23:00-05', 5),
 (9, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE t AS SELECT 1 AS k, v.* FROM v WHERE id <> 8;
CREATE TABLE u AS SELECT 1 AS k, v.* FROM v WHERE id <> 6;
CREATE INDEX ON t (k);
CREATE INDEX ON u (k);
