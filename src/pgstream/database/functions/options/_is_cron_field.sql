-- Whether a field of a cron expression is well-formed: a list of items, each * or a number or a
-- name or a range of these, with a step or without. Numbers are between p_low and p_high.
CREATE OR REPLACE FUNCTION pgstream._is_cron_field(p_field text, p_low int, p_high int) RETURNS bool
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT bool_and(
        item ~ '^(\*|(\d{1,2}|[a-z]{3})(-(\d{1,2}|[a-z]{3}))?)(/[1-9]\d{0,2})?$'
        AND (item ~ '^\*' OR coalesce(
            first BETWEEN p_low AND p_high AND last BETWEEN first AND p_high, false)))
      FROM regexp_split_to_table(lower(p_field), ',') item,
           regexp_split_to_array(split_part(item, '/', 1), '-') ends,
           pgstream._cron_number(ends[1], p_high) first,
           pgstream._cron_number(ends[cardinality(ends)], p_high) last
$$;

GRANT EXECUTE ON FUNCTION pgstream._is_cron_field(text, integer, integer) TO PUBLIC;
