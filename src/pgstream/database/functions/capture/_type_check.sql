-- The statement that fails unless every column of the captured rows has a type of PostgreSQL's own,
-- or the type of today. It converts nothing, and comes before what does is even planned. A virtual
-- column has no type of a user's.
CREATE OR REPLACE FUNCTION pgstream._type_check(p_relid oid, p_row text, p_by_row bool) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format(CASE WHEN p_by_row THEN 'IF (%1$s) IS FALSE THEN PERFORM %2$s; END IF;'
                       ELSE 'IF (SELECT %1$s FROM %3$I LIMIT 1) IS FALSE THEN PERFORM %2$s; '
                            'END IF;' END,
                  string_agg(format('pg_typeof(%I.%I)::oid %s::oid', p_row, attname,
                                    CASE WHEN atttypid < 16384 THEN '< 16384'
                                         ELSE '= ' || atttypid END), ' AND ' ORDER BY attnum),
                  format('pgstream._refuse_strange_types(%s)', p_relid),
                  p_row)
      FROM pg_attribute
     WHERE attrelid = p_relid AND attnum > 0 AND NOT attisdropped AND attgenerated <> 'v'
    HAVING count(*) > 0
$$;

GRANT EXECUTE ON FUNCTION pgstream._type_check(oid, text, boolean) TO PUBLIC;
