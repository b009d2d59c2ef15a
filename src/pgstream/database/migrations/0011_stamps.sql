-- Notice partitions that left and came back, and triggers that somebody else has altered.

ALTER TABLE pgstream.pgs_change_tracking
    ADD COLUMN triggers jsonb;  -- those that capture, as pgstream made them

-- Their shapes do not tell since when a partition is one.
UPDATE pgstream.pgs_stream_tables
   SET needs_reinit = true, reinit_reason = 'pgstream was upgraded'
 WHERE pgs_id IN (SELECT pgs_id FROM pgstream.pgs_dependencies WHERE shape ? 'members');
UPDATE pgstream.pgs_dependencies SET shape = NULL WHERE shape ? 'members';
