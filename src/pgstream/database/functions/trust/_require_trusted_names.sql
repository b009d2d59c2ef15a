-- Fail unless all that a stored query may call belongs to trusted roles. The query is parsed again
-- at each refresh. By then somebody may have made a function or an operator of the same qualified
-- name that fits better, so all of that name are looked at.
CREATE OR REPLACE FUNCTION pgstream._require_trusted_names(p_id bigint) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pgstream._require_trusted_function(p.oid)
       FROM pgstream.pgs_stream_tables t
      CROSS JOIN unnest(t.functions_used) used(name)
      CROSS JOIN LATERAL parse_ident(used.name) part
       JOIN pg_namespace n ON n.nspname = part[1]
       JOIN pg_proc p ON p.pronamespace = n.oid AND p.proname = part[2]
      WHERE t.pgs_id = p_id AND used.name LIKE '%.%';
    PERFORM pgstream._require_trusted_function(o.oprcode)
       FROM (SELECT defining_query FROM pgstream.pgs_stream_tables WHERE pgs_id = p_id
             UNION ALL
             SELECT definition FROM pgstream.pgs_dependencies WHERE pgs_id = p_id) query(text)
      CROSS JOIN LATERAL regexp_matches(query.text, 'OPERATOR\(([^().]+)\.([^()."]+)\)', 'g') m
       JOIN pg_namespace n ON n.nspname = (parse_ident(m[1]))[1]
       JOIN pg_operator o ON o.oprnamespace = n.oid AND o.oprname = m[2];
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._require_trusted_names(bigint) TO PUBLIC;
