-- Fail unless a type and all it is made of belong to trusted roles. Whoever owns a type can give it
-- casts and checks, and these run wherever its values are written as text or stored. A cast cannot
-- be qualified, and may be made at any time.
CREATE OR REPLACE FUNCTION pgstream._require_trusted_type(p_type oid) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    stranger record;
BEGIN
    SELECT t.oid, coalesce(c.relkind, '') IN ('r', 'p', 'm', 'v', 'f') AS is_row,
           CASE t.typtype WHEN 'd' THEN 'DOMAIN' ELSE 'TYPE' END AS kind
      INTO stranger
      FROM pgstream._types_inside(p_type) inside
      JOIN pg_type t ON t.oid = inside
      LEFT JOIN pg_class c ON c.oid = t.typrelid
     WHERE t.typnamespace <> 'pg_catalog'::regnamespace AND NOT pgstream._is_trusted(t.typowner)
     LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PS009',
            MESSAGE = format('the type %s does not belong to role %I, which runs pgstream',
                             stranger.oid::regtype, pgstream._runner()),
            DETAIL = 'Its owner can give it casts and checks, which would run with the rights of '
                     'that role.',
            HINT = CASE WHEN stranger.is_row THEN 'Read the columns, not the row as a whole.'
                        ELSE format('ALTER %s %s OWNER TO %I', stranger.kind,
                                    stranger.oid::regtype, pgstream._runner()) END;
    END IF;
    PERFORM pgstream._require_trusted_function(f)
       FROM pgstream._types_inside(p_type) inside
      CROSS JOIN LATERAL pgstream._domain_functions(inside) f;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._require_trusted_type(oid) TO PUBLIC;
