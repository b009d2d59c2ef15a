-- What makes the query's value change by itself, the worst first: what it is, why, a way out.
CREATE OR REPLACE FUNCTION pgstream._changes_by_itself(
    p_view oid, OUT name text, OUT problem text, OUT way_out text)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    (SELECT p.proname || '()', 'is volatile: it gives another value at each call',
            'Compute it when you read the stream table, or store it in a source column.'
       FROM pgstream._called_functions(p_view) used(fn)
       JOIN pg_proc p ON p.oid = used.fn
      WHERE p.provolatile = 'v'
      ORDER BY 1)
    UNION ALL
    (SELECT f.word, 'changes by itself, with the clock or the session',
            'Use it when you read the stream table, or refresh_mode => ''FULL''.'
       FROM pgstream._value_functions(p_view) f(word)
      ORDER BY 1)
    UNION ALL
    (SELECT p.proname || '()',
            CASE WHEN is_ours THEN 'changes by itself: it depends on more than its arguments'
                 ELSE 'is STABLE: it may depend on more than its arguments' END,
            CASE WHEN NOT is_ours
                 THEN format('If it does not, say so: ALTER FUNCTION %s IMMUTABLE.',
                             used.fn::regprocedure)
                 WHEN p.proname ~ '(tsvector|tsquery|^ts_)'
                 THEN 'Name the text search configuration: to_tsvector(''english'', ...).'
                 ELSE 'Use it when you read the stream table, or refresh_mode => ''FULL''.' END
       FROM pgstream._called_functions(p_view) used(fn)
       JOIN pg_proc p ON p.oid = used.fn
      CROSS JOIN LATERAL (SELECT p.pronamespace = 'pg_catalog'::regnamespace AS is_ours) n
      WHERE p.provolatile = 's'
        AND NOT (is_ours AND p.proname = ANY (pgstream._settled_functions()))
      ORDER BY 1)
$$;

GRANT EXECUTE ON FUNCTION pgstream._changes_by_itself(oid) TO PUBLIC;
