-- Create the catalog tables, which everybody reads and nobody but pgstream writes.

CREATE TABLE pgstream.pgs_stream_tables (
    pgs_id             bigserial PRIMARY KEY,
    pgs_relid          oid NOT NULL UNIQUE,
    pgs_name           text NOT NULL,
    pgs_schema         text NOT NULL,
    defining_query     text NOT NULL,  -- all names qualified, as PostgreSQL prints it
    original_query     text NOT NULL,  -- as the user wrote it
    owner_role         name NOT NULL,
    schedule           text,           -- NULL: CALCULATED
    refresh_mode       text NOT NULL CHECK (refresh_mode IN ('FULL', 'DIFFERENTIAL', 'AUTO')),
    status             text NOT NULL
        CHECK (status IN ('INITIALIZING', 'ACTIVE', 'SUSPENDED', 'ERROR')),
    is_populated       bool NOT NULL DEFAULT false,
    data_timestamp     timestamptz,
    frontier           jsonb,
    last_refresh_at    timestamptz,
    consecutive_errors int NOT NULL DEFAULT 0,
    last_error         text,
    needs_reinit       bool NOT NULL DEFAULT false,
    functions_used     text[] NOT NULL DEFAULT '{}',
    explanation        jsonb NOT NULL DEFAULT '[]',  -- [{property, value}], by the worker
    created_at         timestamptz NOT NULL DEFAULT now(),
    updated_at         timestamptz NOT NULL DEFAULT now(),
    UNIQUE (pgs_schema, pgs_name)
);

-- A row of type VIEW is a view that the query reads, directly or not. It is no source: nothing is
-- captured there. Its definition is kept, so that a worker inlines what was checked at creation.
CREATE TABLE pgstream.pgs_dependencies (
    pgs_id                bigint NOT NULL
        REFERENCES pgstream.pgs_stream_tables ON DELETE CASCADE,
    source_relid          oid NOT NULL,
    source_type           text NOT NULL CHECK (source_type IN ('TABLE', 'STREAM_TABLE', 'VIEW')),
    columns_used          text[] NOT NULL DEFAULT '{}',
    cdc_mode              text NOT NULL DEFAULT 'TRIGGER'
        CHECK (cdc_mode IN ('TRIGGER', 'TRANSITIONING', 'WAL')),
    slot_name             text,
    decoder_confirmed_lsn pg_lsn,
    transition_started_at timestamptz,
    definition            text,
    PRIMARY KEY (pgs_id, source_relid)
);
CREATE INDEX ON pgstream.pgs_dependencies (source_relid);

CREATE TABLE pgstream.pgs_refresh_history (
    refresh_id         bigserial PRIMARY KEY,
    pgs_id             bigint NOT NULL
        REFERENCES pgstream.pgs_stream_tables ON DELETE CASCADE,
    data_timestamp     timestamptz,
    start_time         timestamptz NOT NULL DEFAULT clock_timestamp(),
    end_time           timestamptz,
    action             text NOT NULL
        CHECK (action IN ('NO_DATA', 'FULL', 'DIFFERENTIAL', 'REINITIALIZE', 'SKIP')),
    rows_inserted      bigint,
    rows_deleted       bigint,
    error_message      text,
    status             text NOT NULL
        CHECK (status IN ('RUNNING', 'COMPLETED', 'FAILED', 'SKIPPED')),
    initiated_by       text CHECK (initiated_by IN ('SCHEDULER', 'MANUAL', 'INITIAL')),
    freshness_deadline timestamptz,
    reason             text,
    changes_read       bigint,
    rows_read          bigint,
    spark_actions      int,
    compute_ms         float8,
    apply_ms           float8,
    worker_pid         int  -- of the worker's PostgreSQL backend
);
CREATE INDEX ON pgstream.pgs_refresh_history (pgs_id, refresh_id DESC);
CREATE INDEX ON pgstream.pgs_refresh_history (pgs_id) WHERE status = 'RUNNING';

-- One row per captured source.
CREATE TABLE pgstream.pgs_change_tracking (
    source_relid       oid PRIMARY KEY,
    slot_name          text,
    last_consumed_lsn  pg_lsn,
    tracked_by_pgs_ids bigint[] NOT NULL DEFAULT '{}',
    columns            jsonb NOT NULL  -- [{name, type}], in order
);

-- One row: the files that the functions and views in this database were made from.
CREATE TABLE pgstream.pgs_functions (
    hash       text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);

REVOKE ALL ON ALL TABLES IN SCHEMA pgstream FROM PUBLIC;
GRANT SELECT ON ALL TABLES IN SCHEMA pgstream TO PUBLIC;
