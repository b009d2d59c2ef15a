-- Fail unless the current role has a right on the relation, and USAGE on its schema.
CREATE OR REPLACE FUNCTION pgstream._require_right(p_relid oid, p_right text) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    nsp oid := (SELECT relnamespace FROM pg_class WHERE oid = p_relid);
BEGIN
    IF NOT has_schema_privilege(nsp, 'USAGE') THEN
        RAISE EXCEPTION USING ERRCODE = 'PS009',
            MESSAGE = format('role %I, which runs pgstream, may not use schema %s',
                             current_user, nsp::regnamespace),
            HINT = format('GRANT USAGE ON SCHEMA %s TO %I', nsp::regnamespace, current_user);
    END IF;
    IF NOT has_table_privilege(p_relid, p_right) THEN
        RAISE EXCEPTION USING ERRCODE = 'PS009',
            MESSAGE = format('role %I, which runs pgstream, lacks %s on %s',
                             current_user, p_right, pgstream._relation_name(p_relid)),
            HINT = format('GRANT %s ON %s TO %I', p_right, pgstream._relation_name(p_relid),
                          current_user);
    END IF;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._require_right(oid, text) TO PUBLIC;
