-- With whose rights PostgreSQL reads what is in a view: its owner's, or the caller's.
CREATE OR REPLACE FUNCTION pgstream._view_reader(p_view oid, p_caller oid) RETURNS oid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN EXISTS (
                    SELECT FROM pg_options_to_table(c.reloptions)
                     WHERE option_name = 'security_invoker' AND option_value::bool)
                THEN p_caller ELSE c.relowner END
      FROM pg_class c WHERE c.oid = p_view
$$;

GRANT EXECUTE ON FUNCTION pgstream._view_reader(oid, oid) TO PUBLIC;
