-- Record how long Spark took to analyse, to plan and to run the statements of a refresh.

ALTER TABLE pgstream.pgs_refresh_history
    ADD COLUMN analysis_ms float8,
    ADD COLUMN planning_ms float8,
    ADD COLUMN running_ms  float8;
