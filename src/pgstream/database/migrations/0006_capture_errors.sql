-- Record how sources treat errors of their capture, and those that were let pass.

ALTER TABLE pgstream.pgs_change_tracking
    ADD COLUMN capture_errors text NOT NULL DEFAULT 'fail'
        CHECK (capture_errors IN ('fail', 'mark'));

CREATE TABLE pgstream.pgs_capture_failures (
    source_relid oid NOT NULL,
    xid          xid8 NOT NULL DEFAULT pg_current_xact_id(),
    message      text NOT NULL,
    failed_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX ON pgstream.pgs_capture_failures (source_relid);

REVOKE ALL ON pgstream.pgs_capture_failures FROM PUBLIC;
GRANT SELECT ON pgstream.pgs_capture_failures TO PUBLIC;
