-- Fail because a column of a source has got a type that its capture does not know.
--
-- The buffer keeps the types that the columns had. PostgreSQL converts what is written to another
-- type since, and the owner of a type decides how: in a capture function, with our rights.
CREATE OR REPLACE FUNCTION pgstream._refuse_strange_types(p_relid oid) RETURNS bool
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'PS015',
        MESSAGE = format('a column of %s has got a type that its capture does not know',
                         pgstream._relation_name(p_relid)),
        HINT = format('As role %I: SELECT pgstream._install_capture(%L::regclass)',
                      pgstream._runner(), pgstream._relation_name(p_relid));
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._refuse_strange_types(oid) TO PUBLIC;
