-- Remember the shape of what stream tables read, and why one of them starts again.

ALTER TABLE pgstream.pgs_stream_tables
    ADD COLUMN reinit_reason text,
    ADD COLUMN query_with_views text,
    ADD COLUMN objects_used jsonb NOT NULL DEFAULT '{}';

ALTER TABLE pgstream.pgs_dependencies
    ADD COLUMN shape jsonb;
