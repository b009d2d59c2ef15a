-- Create our schemas and the list of applied migrations.

CREATE SCHEMA pgstream;        -- catalog and functions
CREATE SCHEMA pgstream_state;  -- what is stored of the stream tables beside their rows

REVOKE ALL ON SCHEMA pgstream, pgstream_state FROM PUBLIC;
GRANT USAGE ON SCHEMA pgstream TO PUBLIC;

CREATE TABLE pgstream.pgs_migrations (
    number     int PRIMARY KEY,
    name       text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);
