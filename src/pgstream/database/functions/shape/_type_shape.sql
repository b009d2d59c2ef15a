-- What a type and those inside of it consist of, as a hash: labels of enums, checks of domains,
-- columns of composites. NULL if all of it is PostgreSQL's own.
CREATE OR REPLACE FUNCTION pgstream._type_shape(p_type oid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT md5(string_agg(concat_ws(';', t.oid, t.typbasetype, t.typtypmod, t.typnotnull,
        (SELECT string_agg(quote_ident(e.enumlabel), ',' ORDER BY e.enumsortorder)
           FROM pg_enum e WHERE e.enumtypid = t.oid),
        (SELECT string_agg(pg_get_constraintdef(c.oid), ',' ORDER BY c.oid)
           FROM pg_constraint c WHERE c.contypid = t.oid),
        (SELECT string_agg(concat_ws(' ', quote_ident(a.attname), a.atttypid, a.atttypmod), ','
                           ORDER BY a.attnum)
           FROM pg_attribute a
          WHERE t.typrelid <> 0 AND a.attrelid = t.typrelid AND a.attnum > 0
            AND NOT a.attisdropped)), E'\n' ORDER BY t.oid))
      FROM pgstream._types_inside(p_type) inside JOIN pg_type t ON t.oid = inside
     WHERE t.oid >= 16384
$$;

GRANT EXECUTE ON FUNCTION pgstream._type_shape(oid) TO PUBLIC;
