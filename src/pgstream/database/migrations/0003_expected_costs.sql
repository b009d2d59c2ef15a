-- Record what a refresh was expected to read and how long that would take.

ALTER TABLE pgstream.pgs_refresh_history
    ADD COLUMN expected_rows bigint,
    ADD COLUMN expected_ms   float8;
