-- How a statement trigger captures an UPDATE. Where the buffer has not all columns, rows that are
-- the same in those that it has are left out. The rows before and after stand in one order, so
-- their numbers pair them. FULL, because no such join is a nested loop: a plan is made once, for
-- few rows, and used for many. One row needs no number: most statements update one, and there the
-- numbers cost more than the columns save that are left out.
CREATE OR REPLACE FUNCTION pgstream._update_capture(p_relid oid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN captured.number = 0 THEN 'NULL;'
                WHEN captured.number = live.number THEN
       'INSERT INTO <buffer> (__pgs_action, __pgs_weight<columns>)
        SELECT ''U'', -1<values> FROM __pgs_old n
        UNION ALL
        SELECT ''U'', 1<values> FROM __pgs_new n;'
                ELSE
       'IF __pgs_is_one THEN
            INSERT INTO <buffer> (__pgs_action, __pgs_weight<columns>)
            SELECT ''U'', c.*
              FROM (SELECT true<named> FROM __pgs_old n) o
             CROSS JOIN (SELECT true<named> FROM __pgs_new n) n
             CROSS JOIN LATERAL (VALUES (-1<o.columns>), (1<n.columns>)) c
             WHERE NOT record_image_eq(ROW(<o.row>), ROW(<n.row>));
        ELSE
            INSERT INTO <buffer> (__pgs_action, __pgs_weight<columns>)
            SELECT ''U'', c.*
              FROM (SELECT row_number() OVER () AS __pgs_row<named> FROM __pgs_old n) o
              FULL JOIN (SELECT row_number() OVER () AS __pgs_row<named> FROM __pgs_new n) n
                     ON n.__pgs_row = o.__pgs_row
             CROSS JOIN LATERAL (VALUES (-1<o.columns>), (1<n.columns>)) c
             WHERE NOT record_image_eq(ROW(<o.row>), ROW(<n.row>));
        END IF;' END
      FROM (SELECT count(*) FROM pgstream._captured_columns(p_relid)) captured(number),
           (SELECT count(*) FROM pgstream._source_columns(p_relid)) live(number)
$$;

GRANT EXECUTE ON FUNCTION pgstream._update_capture(oid) TO PUBLIC;
