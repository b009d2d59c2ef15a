-- Let rows of our own tables be changed while a publication has all tables.

ALTER TABLE pgstream.pgs_functions REPLICA IDENTITY FULL;
ALTER TABLE pgstream.pgs_server REPLICA IDENTITY FULL;
ALTER TABLE pgstream.pgs_capture_failures REPLICA IDENTITY FULL;
ALTER TABLE pgstream.pgs_wal REPLICA IDENTITY FULL;
