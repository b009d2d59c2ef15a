-- The nodes of a stored tree. `path` numbers them from the root to the node; `slot` is the field of
-- the node above in which it stands; `fields` are those that have no nodes, as they are written.
-- Names and strings in a tree cannot pass for any of it: their blanks and braces are escaped.
CREATE OR REPLACE FUNCTION pgstream._tree_nodes(
    p_tree text, OUT path int[], OUT kind text, OUT slot text, OUT fields text[])
RETURNS SETOF record
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    written text := regexp_replace(p_tree, '\\.', '_', 'g');
    token text;
    number int := 0;
    deep int := 0;
    numbers int[] := '{}';
    kinds text[] := '{}';
    slots text[] := '{}';  -- per level, the field that was read last
    own text[] := '{}';    -- per level, its fields, one after the other
BEGIN
    FOR token IN
        SELECT m[1] FROM regexp_matches(written,
            '(\{[A-Z]+|\}|:\w+ (?=[({])|:\w+ (?:<>|\w+)|:constvalue \d+ \[(?: 0)+ \])', 'g') m
    LOOP
        IF token LIKE '{%' THEN
            deep := deep + 1;
            number := number + 1;
            numbers[deep] := number;
            kinds[deep] := substr(token, 2);
            slots[deep] := '';
            own[deep] := '';
        ELSIF token LIKE ':%' THEN
            slots[deep] := token;
            own[deep] := own[deep] || token || E'\n';
        ELSE
            path := numbers[:deep];
            kind := kinds[deep];
            slot := rtrim(slots[deep - 1]);
            fields := string_to_array(own[deep], E'\n');
            deep := deep - 1;
            RETURN NEXT;
        END IF;
    END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION pgstream._tree_nodes(text) TO PUBLIC;
