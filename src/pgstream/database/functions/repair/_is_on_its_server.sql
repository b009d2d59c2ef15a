-- Whether this is the server on which the catalog was written: not one that a dump was restored
-- into, or that pg_upgrade made.
CREATE OR REPLACE FUNCTION pgstream._is_on_its_server() RETURNS bool
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT FROM pgstream.pgs_server s JOIN pg_control_system() c
                            ON c.system_identifier = s.system_identifier)
$$;

GRANT EXECUTE ON FUNCTION pgstream._is_on_its_server() TO PUBLIC;
