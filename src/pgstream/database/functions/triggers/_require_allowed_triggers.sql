-- Fail if a trigger on a stream table must not run in a refresh: its function, or one that its WHEN
-- calls, belongs to a role that is not trusted, or it could change or skip rows before they are
-- stored, so that the table would not hold what its query gives.
CREATE OR REPLACE FUNCTION pgstream._require_allowed_triggers(p_relid oid) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    culprit record;
BEGIN
    SELECT * INTO culprit FROM pgstream._user_triggers(p_relid) t WHERE t.is_before_row LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PS031',
            MESSAGE = format('the trigger %I on stream table %s is a BEFORE ROW trigger',
                             culprit.name, pgstream._relation_name(p_relid)),
            DETAIL = 'It could change or skip rows, and the table would not hold its query''s '
                     'result.',
            HINT = 'Make it an AFTER trigger, disable it, or set user_triggers to off.';
    END IF;
    SELECT t.name, f.oid::regprocedure::text AS function INTO culprit
      FROM pgstream._user_triggers(p_relid) t
     CROSS JOIN LATERAL pgstream._trigger_functions(t.tgoid) called
      JOIN pg_proc f ON f.oid = called
     WHERE f.pronamespace <> 'pg_catalog'::regnamespace AND NOT pgstream._is_trusted(f.proowner)
     LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PS009',
            MESSAGE = format('the trigger %I on stream table %s calls %s, which does not belong to '
                             'role %I, which runs pgstream', culprit.name,
                             pgstream._relation_name(p_relid), culprit.function,
                             pgstream._runner()),
            DETAIL = 'It would run with the rights of that role.',
            HINT = format('If you trust it: ALTER FUNCTION %s OWNER TO %I. Else drop or disable '
                          'the trigger, or set user_triggers to off.',
                          culprit.function, pgstream._runner());
    END IF;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._require_allowed_triggers(oid) TO PUBLIC;
