-- The mode in which a query can run. Fail, or in AUTO run full and say so, on whatever changes its
-- value though no row does: no delta describes that. A STABLE function that follows nothing but
-- settings is only warned of.
CREATE OR REPLACE FUNCTION pgstream._check_volatility(p_view oid, p_mode text) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    first record;
    settled text;
BEGIN
    IF p_mode = 'FULL' THEN
        RETURN p_mode;
    END IF;
    SELECT * INTO first FROM pgstream._changes_by_itself(p_view) LIMIT 1;
    IF FOUND AND p_mode = 'DIFFERENTIAL' THEN
        RAISE EXCEPTION USING ERRCODE = 'PS021',
            MESSAGE = format('the function %s %s', first.name, first.problem),
            DETAIL = 'A change of the result would have no change of a source behind it.',
            HINT = first.way_out;
    END IF;
    IF FOUND THEN
        RAISE WARNING 'the function % %: the stream table is refreshed in FULL mode',
            first.name, split_part(first.problem, ':', 1);
        RETURN 'FULL';
    END IF;
    SELECT string_agg(DISTINCT p.proname || '()', ', ') INTO settled
      FROM pgstream._called_functions(p_view) used(fn) JOIN pg_proc p ON p.oid = used.fn
     WHERE p.provolatile = 's';
    IF settled IS NOT NULL THEN
        RAISE WARNING 'the query uses STABLE functions: %', settled
            USING HINT = 'They follow the settings of pgstream''s sessions: TimeZone UTC, '
                         'DateStyle ISO.';
    END IF;
    RETURN p_mode;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._check_volatility(oid, text) TO PUBLIC;
