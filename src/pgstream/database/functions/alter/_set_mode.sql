-- Set the refresh mode, and start or stop capture. A frontier says from where to read changes on;
-- when capture starts or stops it says nothing.
CREATE OR REPLACE FUNCTION pgstream._set_mode(p_id bigint, p_mode text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    old_mode text;
    new_mode text;
BEGIN
    PERFORM pgstream._wait_for_refresh_end(p_id);
    SELECT refresh_mode INTO old_mode FROM pgstream.pgs_stream_tables
     WHERE pgs_id = p_id FOR UPDATE;
    new_mode := p_mode;
    IF old_mode = 'FULL' AND p_mode <> 'FULL' THEN
        new_mode := pgstream._possible_mode(p_id, p_mode);
    END IF;
    IF old_mode = 'FULL' AND new_mode <> 'FULL' THEN
        PERFORM pgstream._track(p_id);
    ELSIF old_mode <> 'FULL' AND new_mode = 'FULL' THEN
        PERFORM pgstream._untrack(p_id);
    END IF;
    UPDATE pgstream.pgs_stream_tables
       SET refresh_mode = new_mode,
           frontier = CASE WHEN (old_mode = 'FULL') = (new_mode = 'FULL') THEN frontier END
     WHERE pgs_id = p_id;
END
$$;

REVOKE ALL ON FUNCTION pgstream._set_mode(bigint, text) FROM PUBLIC;
