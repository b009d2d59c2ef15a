-- Give the columns of a stream table the types that its query has now. Fails if the query has other
-- columns, or if PostgreSQL does not convert what is stored; the next refresh computes it again.
CREATE OR REPLACE FUNCTION pgstream._fit_storage(p_storage oid, p_view oid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    storage text := pgstream._relation_name(p_storage);
    wanted record;
BEGIN
    IF pgstream._column_names(p_storage) <> pgstream._column_names(p_view) THEN
        RAISE EXCEPTION USING ERRCODE = 'PS018',
            MESSAGE = format('the query of %s has other columns now', storage),
            HINT = 'Drop the stream table and create it again.';
    END IF;
    FOR wanted IN
        SELECT s.attname AS name, format_type(v.atttypid, v.atttypmod)
               || CASE WHEN v.attcollation = 0 THEN ''
                       ELSE ' COLLATE ' || v.attcollation::regcollation END AS type
          FROM pg_attribute s JOIN pg_attribute v ON v.attrelid = p_view AND v.attname = s.attname
         WHERE s.attrelid = p_storage AND s.attnum > 0 AND NOT s.attisdropped
           AND (s.atttypid, s.atttypmod, s.attcollation)
            <> (v.atttypid, v.atttypmod, v.attcollation)
    LOOP
        EXECUTE format('ALTER TABLE %s ALTER %I TYPE %s', storage, wanted.name, wanted.type);
    END LOOP;
END
$$;

REVOKE ALL ON FUNCTION pgstream._fit_storage(oid, oid) FROM PUBLIC;
