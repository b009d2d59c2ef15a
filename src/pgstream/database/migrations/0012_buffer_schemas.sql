-- Remember which schemas hold change buffers, and which of them those of a source.

CREATE TABLE pgstream.pgs_buffer_schemas (
    schema_name name PRIMARY KEY,
    is_current  bool NOT NULL  -- new buffers go there
);

-- A database of before has one; a new one gets its first when it has functions.
INSERT INTO pgstream.pgs_buffer_schemas
SELECT 'pgstream_changes', true FROM pgstream.pgs_migrations WHERE number = 1 AND applied_at < now();

ALTER TABLE pgstream.pgs_change_tracking
    ADD COLUMN buffer_schema name NOT NULL DEFAULT 'pgstream_changes';
ALTER TABLE pgstream.pgs_change_tracking ALTER buffer_schema DROP DEFAULT;

REVOKE ALL ON pgstream.pgs_buffer_schemas FROM PUBLIC;
GRANT SELECT ON pgstream.pgs_buffer_schemas TO PUBLIC;
