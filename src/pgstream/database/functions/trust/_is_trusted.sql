-- Whether code of this role may run with the rights of pgstream.
--
-- pgstream's own connections search no schema but PostgreSQL's, and queries are stored with every
-- name, operator and type qualified. What remains are the functions and types that a query uses
-- because its creator wrote so: their owners must be trusted.
CREATE OR REPLACE FUNCTION pgstream._is_trusted(p_role oid) RETURNS bool
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(
        (SELECT r.rolsuper OR pg_has_role(r.oid, n.nspowner, 'MEMBER')
           FROM pg_roles r, pg_namespace n
          WHERE r.oid = p_role AND n.nspname = 'pgstream'), false)
$$;

GRANT EXECUTE ON FUNCTION pgstream._is_trusted(oid) TO PUBLIC;
