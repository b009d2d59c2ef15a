-- Record how a source is captured, for all who read it, and tell those who listen.
CREATE OR REPLACE FUNCTION pgstream._set_cdc_mode(
    p_relid oid, p_mode text, p_event text, p_reason text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    old_mode text := (SELECT min(cdc_mode) FROM pgstream.pgs_dependencies
                       WHERE source_relid = p_relid);
    told jsonb := jsonb_strip_nulls(jsonb_build_object(
        'event', p_event, 'source_table', pgstream._relation_name(p_relid),
        'old_mode', old_mode, 'new_mode', p_mode, 'slot_name', pgstream._slot_name(),
        'reason', p_reason));
BEGIN
    UPDATE pgstream.pgs_dependencies
       SET cdc_mode = p_mode,
           slot_name = CASE p_mode WHEN 'TRIGGER' THEN NULL ELSE pgstream._slot_name() END,
           decoder_confirmed_lsn = NULL,
           transition_started_at =
               CASE p_event WHEN 'transition_started' THEN now() ELSE transition_started_at END
     WHERE source_relid = p_relid;
    PERFORM pg_notify('pg_stream_cdc_transition', told::text);
    IF p_event IN ('transition_complete', 'transition_failed') THEN
        PERFORM pg_notify('pg_stream_alert',
                          (told || jsonb_build_object('event', 'cdc_' || p_event))::text);
    END IF;
END
$$;

REVOKE ALL ON FUNCTION pgstream._set_cdc_mode(oid, text, text, text) FROM PUBLIC;
