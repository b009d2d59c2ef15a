-- What PostgreSQL prints for a view, all names qualified. Its own grammar does not read the marks
-- of CYCLE as it prints them: TO 'Y'::text is TO text 'Y'.
CREATE OR REPLACE FUNCTION pgstream._view_text(p_view oid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT regexp_replace(rtrim(btrim(pg_get_viewdef(p_view)), ';'),
        '(\mCYCLE [^'']* SET [^'']* TO )(''(?:[^'']|'''')*'')::([^'']*) DEFAULT (''(?:[^'']|'''')*'')::([^'']*?) USING ',
        '\1\3 \2 DEFAULT \5 \4 USING ', 'g')
$$;

GRANT EXECUTE ON FUNCTION pgstream._view_text(oid) TO PUBLIC;
