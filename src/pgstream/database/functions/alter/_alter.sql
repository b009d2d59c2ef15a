-- Alter a stream table for p_caller. Runs as the role that installed pgstream, and checks the
-- rights of p_caller.
CREATE OR REPLACE FUNCTION pgstream._alter(
    p_caller name, p_name text, p_schedule text, p_mode text, p_status text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    id bigint := pgstream._resolve(p_name);
    new_schedule text := pgstream._check_schedule(p_schedule);
    new_status text := pgstream._check_status(p_status);
    old_status text;
BEGIN
    PERFORM pgstream._require_owner(id, p_caller);
    IF p_mode IS NOT NULL THEN
        PERFORM pgstream._set_mode(id, pgstream._check_mode(p_mode));
    END IF;
    SELECT status INTO old_status FROM pgstream.pgs_stream_tables WHERE pgs_id = id FOR UPDATE;
    UPDATE pgstream.pgs_stream_tables
       SET schedule = CASE WHEN p_schedule IS NULL THEN schedule ELSE new_schedule END,
           -- One that was never built stays INITIALIZING, so that it will be.
           status = CASE WHEN new_status = 'ACTIVE' AND status = 'INITIALIZING' THEN status
                         WHEN new_status = 'ACTIVE' AND status = 'ERROR' AND NOT is_populated
                         THEN 'INITIALIZING'
                         ELSE coalesce(new_status, status) END,
           consecutive_errors = CASE new_status WHEN 'ACTIVE' THEN 0 ELSE consecutive_errors END,
           last_error = CASE new_status WHEN 'ACTIVE' THEN NULL ELSE last_error END,
           updated_at = now()
     WHERE pgs_id = id;
    PERFORM pgstream._check_followed(schedule, refresh_mode)
       FROM pgstream.pgs_stream_tables WHERE pgs_id = id;
    IF new_status = 'ACTIVE' AND old_status IN ('SUSPENDED', 'ERROR') THEN
        PERFORM pgstream._alert('resumed', jsonb_build_object('stream_table',
                    format('%s.%s', pgs_schema, pgs_name)))
           FROM pgstream.pgs_stream_tables WHERE pgs_id = id;
    END IF;
    PERFORM pg_notify('pgstream_wake', id::text);
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._alter(name, text, text, text, text) TO PUBLIC;
