-- Functions that are STABLE only because they follow settings of the session, which pgstream
-- fixes: TimeZone, DateStyle, IntervalStyle, extra_float_digits, bytea_output.
CREATE OR REPLACE FUNCTION pgstream._settled_functions() RETURNS text[]
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

GRANT EXECUTE ON FUNCTION pgstream._settled_functions() TO PUBLIC;
