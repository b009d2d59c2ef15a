-- Create a stream table. Runs as its caller and lets PostgreSQL analyse the query as a temporary
-- view, which _register takes over.
--
-- The query means what it means to the caller, and everything else what it means to PostgreSQL. So
-- there is no search_path here, and what runs under the caller's is spelled out.
CREATE OR REPLACE FUNCTION pgstream.create_stream_table(
    name text,
    query text,
    schedule text DEFAULT '1m',
    refresh_mode text DEFAULT 'DIFFERENTIAL',
    initialize bool DEFAULT true)
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    caller pg_catalog.oid := (SELECT r.oid FROM pg_catalog.pg_roles r
                               WHERE r.rolname OPERATOR(pg_catalog.=) current_user);
    nsp pg_catalog.text;
    rel pg_catalog.text;
    probe pg_catalog.oid;
BEGIN
    SELECT t.nsp, t.rel INTO nsp, rel FROM pgstream._check_target(name, caller) t;
    PERFORM pgstream._check_schedule(schedule);
    PERFORM pgstream._check_mode(refresh_mode);
    PERFORM pgstream._check_not_empty(query);
    probe := pgstream._parsed(query);
    IF probe IS NOT NULL THEN
        PERFORM pgstream._check_function_rights(probe, caller);
    END IF;
    PERFORM pgstream._check_query(query, nsp, rel);
    PERFORM pgstream._register(
        coalesce(probe, pgstream._probe(query)), name, query, schedule, refresh_mode, initialize);
    DROP VIEW pg_temp.__pgs_probe;
    IF coalesce(initialize, true) THEN
        PERFORM pgstream._announce_build(nsp, rel);
    END IF;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream.create_stream_table(text, text, text, text, boolean) TO PUBLIC;
