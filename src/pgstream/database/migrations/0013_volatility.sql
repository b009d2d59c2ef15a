-- Refuse, unless everything is computed anew, whatever changes its value though no row changes.

-- Functions that are STABLE only because they follow settings of the session, which pgstream
-- fixes: TimeZone, DateStyle, IntervalStyle, extra_float_digits, bytea_output.
CREATE FUNCTION pgstream._settled_functions() RETURNS text[]
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT string_to_array('anytextcat array_to_json array_to_string concat concat_ws convert '
        'convert_from convert_to date date_add date_cmp_timestamptz date_eq_timestamptz '
        'date_ge_timestamptz date_gt_timestamptz date_le_timestamptz date_lt_timestamptz '
        'date_ne_timestamptz date_part date_subtract date_trunc extract format generate_series '
        'in_range interval_pl_timestamptz json_agg json_agg_strict json_build_array '
        'json_build_object json_object_agg json_object_agg_strict json_object_agg_unique '
        'json_object_agg_unique_strict json_populate_record json_populate_recordset '
        'json_to_record json_to_recordset jsonb_agg jsonb_agg_strict jsonb_build_array '
        'jsonb_build_object jsonb_object_agg jsonb_object_agg_strict jsonb_object_agg_unique '
        'jsonb_object_agg_unique_strict jsonb_path_exists_tz jsonb_path_match_tz '
        'jsonb_path_query_array_tz jsonb_path_query_first_tz jsonb_path_query_tz '
        'jsonb_populate_record jsonb_populate_recordset jsonb_to_record jsonb_to_recordset '
        'length make_timestamptz money numeric overlaps pg_input_is_valid pg_typeof '
        'quote_literal quote_nullable row_to_json textanycat time timestamp '
        'timestamp_cmp_timestamptz timestamp_eq_timestamptz timestamp_ge_timestamptz '
        'timestamp_gt_timestamptz timestamp_le_timestamptz timestamp_lt_timestamptz '
        'timestamp_ne_timestamptz timestamptz timestamptz_cmp_date timestamptz_cmp_timestamp '
        'timestamptz_eq_date timestamptz_eq_timestamp timestamptz_ge_date '
        'timestamptz_ge_timestamp timestamptz_gt_date timestamptz_gt_timestamp '
        'timestamptz_le_date timestamptz_le_timestamp timestamptz_lt_date '
        'timestamptz_lt_timestamp timestamptz_mi_interval timestamptz_ne_date '
        'timestamptz_ne_timestamp timestamptz_pl_interval timetz timezone to_char to_date to_json '
        'to_jsonb to_number to_timestamp xml xml_is_well_formed', ' ')
$$;

-- The stored trees of a view and the views below it, and those of the default arguments of the
-- functions in them: a default is filled in when the query is planned.
CREATE FUNCTION pgstream._trees(p_view oid) RETURNS SETOF text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE trees(tree) AS (
        SELECT r.ev_action::text
          FROM pgstream._views(p_view) v
          JOIN pg_rewrite r ON r.ev_class = v AND r.ev_type = '1'
        UNION
        SELECT p.proargdefaults::text
          FROM trees
         CROSS JOIN LATERAL regexp_matches(tree, ':funcid (\d+)', 'g') m
          JOIN pg_proc p ON p.oid = m[1]::oid
         WHERE p.proargdefaults IS NOT NULL)
    SELECT tree FROM trees
$$;

CREATE OR REPLACE FUNCTION pgstream._functions(p_view oid, OUT fn oid, OUT by_name bool)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT m[1]::oid, true
      FROM pgstream._trees(p_view) tree,
           regexp_matches(tree, ':(?:funcid|aggfnoid|winfnoid) (\d+)', 'g') m
     WHERE m[1] <> '0'
    UNION
    SELECT o.oprcode::oid, false
      FROM pgstream._trees(p_view) tree, regexp_matches(tree, ':opno (\d+)', 'g') m
      JOIN pg_operator o ON o.oid = m[1]::oid
$$;

-- CURRENT_DATE and its kin, by the names that users write.
CREATE FUNCTION pgstream._value_functions(p_view oid) RETURNS SETOF text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT DISTINCT (ARRAY['CURRENT_DATE', 'CURRENT_TIME', 'CURRENT_TIME', 'CURRENT_TIMESTAMP',
                           'CURRENT_TIMESTAMP', 'LOCALTIME', 'LOCALTIME', 'LOCALTIMESTAMP',
                           'LOCALTIMESTAMP', 'CURRENT_ROLE', 'CURRENT_USER', 'USER',
                           'SESSION_USER', 'CURRENT_CATALOG', 'CURRENT_SCHEMA'])[m[1]::int + 1]
      FROM pgstream._trees(p_view) tree,
           regexp_matches(tree, '\{SQLVALUEFUNCTION :op (\d+)', 'g') m
$$;

-- What makes the query's value change by itself, the worst first: what it is, why, a way out.
CREATE FUNCTION pgstream._changes_by_itself(
    p_view oid, OUT name text, OUT problem text, OUT way_out text)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    (SELECT p.proname || '()', 'is volatile: it gives another value at each call',
            'Compute it when you read the stream table, or store it in a source column.'
       FROM (SELECT DISTINCT fn FROM pgstream._functions(p_view)) used
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
       FROM (SELECT DISTINCT fn FROM pgstream._functions(p_view)) used
       JOIN pg_proc p ON p.oid = used.fn
      CROSS JOIN LATERAL (SELECT p.pronamespace = 'pg_catalog'::regnamespace AS is_ours) n
      WHERE p.provolatile = 's'
        AND NOT (is_ours AND p.proname = ANY (pgstream._settled_functions()))
      ORDER BY 1)
$$;

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
      FROM pgstream._functions(p_view) used JOIN pg_proc p ON p.oid = used.fn
     WHERE p.provolatile = 's';
    IF settled IS NOT NULL THEN
        RAISE WARNING 'the query uses STABLE functions: %', settled
            USING HINT = 'They follow the settings of pgstream''s sessions: TimeZone UTC, '
                         'DateStyle ISO.';
    END IF;
    RETURN p_mode;
END
$$;

-- The mode that a stream table can have: its query is looked at as when it was created.
CREATE FUNCTION pgstream._possible_mode(p_id bigint, p_mode text) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
DECLARE
    query text := (SELECT defining_query FROM pgstream.pgs_stream_tables WHERE pgs_id = p_id);
    mode text;
BEGIN
    DROP VIEW IF EXISTS pg_temp.__pgs_mode;
    EXECUTE 'CREATE TEMPORARY VIEW __pgs_mode AS ' || query;
    mode := pgstream._check_volatility('pg_temp.__pgs_mode'::regclass, p_mode);
    DROP VIEW pg_temp.__pgs_mode;
    RETURN pgstream._capturable_mode(
        ARRAY(SELECT source_relid FROM pgstream.pgs_dependencies WHERE pgs_id = p_id), mode);
END
$$;

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
