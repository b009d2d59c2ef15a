-- Fail if no stream table may read this relation. What a relation is decides; rights do not.
CREATE OR REPLACE FUNCTION pgstream._check_readable(p_relid oid) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    rel record;
    problem text;
    way_out text;
BEGIN
    SELECT c.relkind, c.relpersistence, c.relrowsecurity, n.nspname INTO rel
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = p_relid;
    IF NOT FOUND THEN
        problem := 'does not exist';
    ELSIF rel.nspname IN ('pg_catalog', 'information_schema', 'pg_toast') THEN
        problem := 'is a system catalog';
        way_out := 'Copy what you need into a table.';
    ELSIF pgstream._is_our_schema(rel.nspname) THEN
        problem := 'belongs to pgstream';
        way_out := 'Query it directly.';
    ELSIF rel.relpersistence = 't' THEN
        problem := 'is a temporary table';
        way_out := 'Use an ordinary table: a temporary one is seen by its own session only.';
    ELSIF rel.relrowsecurity THEN
        problem := 'has row security';
        way_out := 'The stream table would show its rows to every reader. Read a table without '
                   'row security.';
    ELSIF rel.relkind NOT IN ('r', 'p', 'v', 'm', 'f') THEN
        problem := 'is not a table';
        way_out := 'Read a table.';
    ELSE
        RETURN;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'PS015',
        MESSAGE = format('a stream table cannot read %s: it %s',
                         pgstream._relation_name(p_relid), problem),
        HINT = coalesce(way_out, '');
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._check_readable(oid) TO PUBLIC;
