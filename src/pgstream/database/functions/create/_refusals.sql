-- What a stream table's query may not have, as far as SQL tells it: the words of
-- pgstream/sql/passes/refuse.py, and the keyword that shows where it stands.
CREATE OR REPLACE FUNCTION pgstream._refusals(
    OUT construct text, OUT keyword text, OUT reason text, OUT way_out text)
RETURNS SETOF record
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    VALUES
    ('LIMIT without ORDER BY', 'limit|fetch',
     'Which rows stay would be arbitrary, and differ from one refresh to the next.',
     'Add ORDER BY, or leave LIMIT out and use it when you read the stream table.'),
    ('OFFSET without LIMIT', 'offset',
     'All rows but a few would be kept, and the few would have to be sorted out of all.',
     'Add LIMIT, or use OFFSET when you read the stream table.'),
    ('TABLESAMPLE', 'tablesample',
     'A sample differs at every refresh, so no delta can describe its change.',
     'Leave it out, and sample when you read: WHERE random() < 0.1.'),
    ('FOR UPDATE / FOR SHARE', 'for',
     'A stream table''s rows are written by pgstream only; there is nothing to lock.',
     'Remove the locking clause.'),
    ('SELECT INTO', 'into',
     'A stream table''s result goes to the stream table.',
     'Remove INTO.'),
    ('parameter', '\$\d+',
     'A stream table''s query has no caller to give it a value.',
     'Write the value into the query.'),
    ('ONLY', 'only',
     'Changes are captured with those of the children.',
     'Remove ONLY.')
$$;

GRANT EXECUTE ON FUNCTION pgstream._refusals() TO PUBLIC;
