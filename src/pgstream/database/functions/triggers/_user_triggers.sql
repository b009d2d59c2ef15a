-- The enabled triggers of a stream table that are not ours. Nobody else creates functions in our
-- schemas.
CREATE OR REPLACE FUNCTION pgstream._user_triggers(
    p_relid oid, OUT name name, OUT function text, OUT foid oid, OUT events text[],
    OUT is_always bool, OUT is_deferrable bool, OUT is_before_row bool, OUT tgoid oid)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT t.tgname, t.tgfoid::regprocedure::text, t.tgfoid,
           ARRAY(SELECT event FROM (VALUES (4, 'INSERT'), (8, 'DELETE'), (16, 'UPDATE'),
                                           (32, 'TRUNCATE')) e(bit, event)
                  WHERE t.tgtype & e.bit <> 0),
           t.tgenabled = 'A', t.tgdeferrable, t.tgtype & 3 = 3, t.oid
      FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
      JOIN pg_namespace n ON n.oid = p.pronamespace
     WHERE t.tgrelid = p_relid AND NOT t.tgisinternal AND t.tgenabled IN ('O', 'A')
       AND NOT pgstream._is_our_schema(n.nspname)
     ORDER BY t.tgname
$$;

GRANT EXECUTE ON FUNCTION pgstream._user_triggers(oid) TO PUBLIC;
