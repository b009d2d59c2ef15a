-- Of these stream tables, and those that they read, the ones that a refresh would leave as they
-- are: nothing that they read has changed for the snapshot of this statement. Upstream first. The
-- frontier is the one for which it holds. Where p_all, none unless all of p_ids are such.
CREATE OR REPLACE FUNCTION pgstream._idle(
    p_ids bigint[], p_resting text[], p_cdc_mode text, p_capture_errors text, p_all bool,
    OUT pgs_id bigint, OUT frontier jsonb)
RETURNS SETOF record
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET lock_timeout = '100ms' AS $$
#variable_conflict use_column
DECLARE
    asked bigint[];
    members bigint[];
    depths int[];
    quiet bigint[];
    whole bigint[];
BEGIN
    IF NOT EXISTS (SELECT FROM pgstream.pgs_canary) OR EXISTS (
        SELECT FROM pgstream.pgs_change_tracking WHERE capture_errors <> p_capture_errors) THEN
        RETURN;
    END IF;
    SELECT array_agg(g.asked), array_agg(g.pgs_id), array_agg(g.depth)
      INTO asked, members, depths FROM pgstream._group(p_ids, p_resting) g;
    quiet := pgstream._quiet(members, p_cdc_mode);
    IF quiet = '{}' OR p_all AND NOT members <@ quiet THEN
        RETURN;  -- shapes take the longest
    END IF;
    quiet := ARRAY(SELECT unnest(quiet) EXCEPT
                   SELECT c.pgs_id FROM pgstream._changed_shapes(quiet) c);
    whole := ARRAY(SELECT g.asked FROM unnest(asked, members) g(asked, member)
                    GROUP BY g.asked HAVING bool_and(g.member = ANY (quiet)));
    IF p_all AND NOT p_ids <@ whole THEN
        RETURN;
    END IF;
    RETURN QUERY
        SELECT t.pgs_id, t.frontier
          FROM unnest(asked, members, depths) g(asked, member, depth)
          JOIN pgstream.pgs_stream_tables t ON t.pgs_id = g.member
         WHERE g.asked = ANY (whole)
         GROUP BY t.pgs_id
         ORDER BY max(g.depth) DESC, t.pgs_id;
END
$$;

REVOKE ALL ON FUNCTION pgstream._idle(bigint[], text[], text, text, bool) FROM PUBLIC;
