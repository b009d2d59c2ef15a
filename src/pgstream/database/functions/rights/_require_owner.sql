-- Fail unless p_caller, for whom the session may speak, owns the stream table or pgstream.
CREATE OR REPLACE FUNCTION pgstream._require_owner(p_id bigint, p_caller name) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    st pgstream.pgs_stream_tables;
BEGIN
    SELECT * INTO st FROM pgstream.pgs_stream_tables WHERE pgs_id = p_id;
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = p_caller)
       AND pg_has_role(session_user, p_caller, 'MEMBER')
       AND EXISTS (
           SELECT FROM pg_roles r
            WHERE (r.rolname = st.owner_role
                   OR r.oid = (SELECT nspowner FROM pg_namespace WHERE nspname = 'pgstream'))
              AND pg_has_role(p_caller, r.oid, 'MEMBER')) THEN
        RETURN;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'PS009',
        MESSAGE = format('must be owner of stream table %I.%I', st.pgs_schema, st.pgs_name),
        HINT = format('GRANT %I TO %I', st.owner_role, p_caller);
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._require_owner(bigint, name) TO PUBLIC;
