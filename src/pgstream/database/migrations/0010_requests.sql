-- Let a worker see at once that somebody asks for a refresh: a sequence shows uncommitted values.

CREATE SEQUENCE pgstream.pgs_requests;
GRANT USAGE ON SEQUENCE pgstream.pgs_requests TO PUBLIC;
