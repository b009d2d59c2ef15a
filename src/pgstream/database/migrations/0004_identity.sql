-- Remember which server the catalog's numbers are of, and notice when UNLOGGED tables were emptied.

-- One row. Transaction numbers, and with them frontiers, mean something on this server alone.
CREATE TABLE pgstream.pgs_server (
    system_identifier bigint NOT NULL
);
INSERT INTO pgstream.pgs_server SELECT system_identifier FROM pg_control_system();

-- A crash empties all UNLOGGED tables at once. If this one is empty, so are those that are sources.
CREATE UNLOGGED TABLE pgstream.pgs_canary (
    lives bool NOT NULL
);
INSERT INTO pgstream.pgs_canary VALUES (true);

REVOKE ALL ON pgstream.pgs_server, pgstream.pgs_canary FROM PUBLIC;
GRANT SELECT ON pgstream.pgs_server, pgstream.pgs_canary TO PUBLIC;
