-- The table that holds the result: the columns PostgreSQL gives the query, and __pgs_row_id.
CREATE OR REPLACE FUNCTION pgstream._create_storage(p_view oid, p_nsp text, p_rel text, p_owner oid)
RETURNS oid
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    storage text := format('%I.%I', p_nsp, p_rel);
BEGIN
    IF NOT has_schema_privilege(p_nsp, 'CREATE') THEN
        RAISE EXCEPTION USING ERRCODE = 'PS009',
            MESSAGE = format('role %I, which runs pgstream, may not create tables in schema %I',
                             current_user, p_nsp),
            HINT = format('GRANT USAGE, CREATE ON SCHEMA %I TO %I', p_nsp, current_user);
    END IF;
    EXECUTE format('CREATE TABLE %s (%s, __pgs_row_id bigint NOT NULL)', storage, (
        SELECT string_agg(
                   format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod))
                   || CASE WHEN a.attcollation NOT IN (0, t.typcollation)
                           THEN format(' COLLATE %I.%I', cn.nspname, co.collname) ELSE '' END,
                   ', ' ORDER BY a.attnum)
          FROM pg_attribute a
          JOIN pg_type t ON t.oid = a.atttypid
          LEFT JOIN pg_collation co ON co.oid = a.attcollation
          LEFT JOIN pg_namespace cn ON cn.oid = co.collnamespace
         WHERE a.attrelid = p_view AND a.attnum > 0 AND a.attname <> '__pgs_row_id'));
    EXECUTE format('CREATE INDEX ON %s (__pgs_row_id)', storage);
    -- No index is unique. Without an identity, PostgreSQL would refuse changes once it is published.
    EXECUTE format('ALTER TABLE %s REPLICA IDENTITY FULL', storage);
    EXECUTE format('CREATE TRIGGER __pgs_guard BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE '
                   'ON %s FOR EACH STATEMENT EXECUTE FUNCTION pgstream._guard()', storage);
    IF p_owner <> current_user::regrole THEN
        EXECUTE format('GRANT SELECT ON %s TO %s WITH GRANT OPTION', storage, p_owner::regrole);
    END IF;
    RETURN storage::regclass;
END
$$;

REVOKE ALL ON FUNCTION pgstream._create_storage(oid, text, text, oid) FROM PUBLIC;
