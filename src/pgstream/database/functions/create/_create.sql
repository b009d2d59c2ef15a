-- Create a stream table. Runs as its caller and lets PostgreSQL analyse the query as a temporary
-- view, which _register takes over. p_text is what the user wrote.
--
-- The query means what it means to the caller, and everything else what it means to PostgreSQL. So
-- there is no search_path here, and what runs under the caller's is spelled out.
CREATE OR REPLACE FUNCTION pgstream._create(
    p_name text, p_query text, p_text text, p_schedule text, p_mode text, p_initialize bool)
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    caller pg_catalog.oid := (SELECT r.oid FROM pg_catalog.pg_roles r
                               WHERE r.rolname OPERATOR(pg_catalog.=) current_user);
    nsp pg_catalog.text;
    rel pg_catalog.text;
    probe pg_catalog.oid;
BEGIN
    SELECT t.nsp, t.rel INTO nsp, rel FROM pgstream._check_target(p_name, caller) t;
    PERFORM pgstream._check_schedule(p_schedule);
    PERFORM pgstream._check_mode(p_mode);
    PERFORM pgstream._check_not_empty(p_query);
    probe := pgstream._parsed(p_query);
    IF probe IS NOT NULL THEN
        PERFORM pgstream._check_function_rights(probe, caller);
    END IF;
    PERFORM pgstream._check_query(p_query, nsp, rel);
    PERFORM pgstream._register(
        coalesce(probe, pgstream._probe(p_query)), p_name, p_text, p_schedule, p_mode,
        p_initialize);
    DROP VIEW pg_temp.__pgs_probe;
    IF coalesce(p_initialize, true) THEN
        PERFORM pgstream._announce_build(nsp, rel);
    END IF;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._create(text, text, text, text, text, boolean) TO PUBLIC;
