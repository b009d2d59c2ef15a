-- Let everybody read the catalog and call the functions, and nobody write.

REVOKE ALL ON SCHEMA pgstream, pgstream_changes, pgstream_state FROM PUBLIC;
GRANT USAGE ON SCHEMA pgstream TO PUBLIC;

REVOKE ALL ON ALL TABLES IN SCHEMA pgstream FROM PUBLIC;
GRANT SELECT ON ALL TABLES IN SCHEMA pgstream TO PUBLIC;

-- The public functions run as their caller, who must be able to execute what they call. Of the
-- private ones, _register, _alter and _drop run with the rights of pgstream and check their
-- caller's. The rest of those that change something are for pgstream alone.
REVOKE ALL ON FUNCTION
    pgstream._install_capture(oid),
    pgstream._remove_capture(oid),
    pgstream._create_buffer(oid),
    pgstream._create_capture_function(oid),
    pgstream._create_triggers(oid),
    pgstream._lock_source(oid),
    pgstream._track(bigint),
    pgstream._untrack(bigint),
    pgstream._create_storage(oid, text, text, oid),
    pgstream._add_dependencies(bigint, oid),
    pgstream._set_mode(bigint, text),
    pgstream._wait_for_refresh_end(bigint),
    pgstream._guard()
FROM PUBLIC;
