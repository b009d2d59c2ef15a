-- The catalog of stream tables, and how old their data is.
-- A cron schedule and a CALCULATED one have no duration, so stale is NULL.
CREATE OR REPLACE VIEW pgstream.stream_tables_info AS
SELECT st.*,
       now() - st.data_timestamp AS staleness,
       now() - st.data_timestamp > pgstream._duration(st.schedule) AS stale
  FROM pgstream.pgs_stream_tables st;

GRANT SELECT ON pgstream.stream_tables_info TO PUBLIC;
