-- Let the readers of a source, of some of its columns if these are given, start again at their next
-- refresh. A reader that is being created starts anyway.
CREATE OR REPLACE FUNCTION pgstream._ask_for_reinit(
    p_relid oid, p_columns text[], p_but bigint, p_reason text)
RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    UPDATE pgstream.pgs_stream_tables t
       SET needs_reinit = true, reinit_reason = p_reason
      FROM pgstream.pgs_dependencies d
     WHERE d.pgs_id = t.pgs_id AND d.source_relid = p_relid
       AND (p_columns IS NULL OR d.columns_used && p_columns)
       AND t.refresh_mode <> 'FULL' AND t.pgs_id IS DISTINCT FROM p_but
$$;

REVOKE ALL ON FUNCTION pgstream._ask_for_reinit(oid, text[], bigint, text) FROM PUBLIC;
