-- What keeps the changes of a source from being captured from the WAL, and the way out; NULL if
-- nothing does.
CREATE OR REPLACE FUNCTION pgstream._wal_obstacle(
    p_relid oid, OUT problem text, OUT way_out text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    rel pg_class;
    me record;
    refused record;
    strange text := pgstream._wal_strange_column(p_relid);
BEGIN
    SELECT * INTO rel FROM pg_class WHERE oid = p_relid;
    SELECT rolsuper OR rolreplication AS replicates INTO me
      FROM pg_roles WHERE rolname = current_user;
    SELECT * INTO refused FROM pgstream._unpublishable(p_relid);
    IF current_setting('wal_level') <> 'logical' THEN
        problem := format('wal_level is %s', current_setting('wal_level'));
        way_out := 'Set wal_level = logical and start the server again.';
    ELSIF NOT me.replicates THEN
        problem := format('role %I may not use replication slots', current_user);
        way_out := format('ALTER ROLE %I REPLICATION', current_user);
    ELSIF rel.relkind <> 'r' THEN
        problem := 'it is not an ordinary table';
        way_out := 'A partitioned table is captured by triggers.';
    ELSIF EXISTS (SELECT FROM pg_inherits WHERE inhparent = p_relid) THEN
        problem := 'it has inheritance children, whose rows are written elsewhere';
        way_out := 'Keep the table on triggers.';
    ELSIF rel.relpersistence <> 'p' THEN
        problem := 'it is unlogged: its rows are not in the WAL';
        way_out := format('ALTER TABLE %s SET LOGGED', pgstream._relation_name(p_relid));
    ELSIF NOT pg_has_role(rel.relowner, 'USAGE') THEN
        problem := format('role %I does not own it, and may not publish it', current_user);
        way_out := format('GRANT %I TO %I', pg_get_userbyid(rel.relowner), current_user);
    ELSIF refused.problem IS NOT NULL THEN
        problem := refused.problem;
        way_out := refused.way_out;
    ELSIF strange IS NOT NULL THEN
        problem := strange;
        way_out := 'Keep the table on triggers.';
    ELSIF NOT EXISTS (SELECT FROM pg_publication WHERE pubname = pgstream._publication_name())
          AND NOT has_database_privilege(current_database(), 'CREATE') THEN
        problem := format('role %I may not create a publication', current_user);
        way_out := format('GRANT CREATE ON DATABASE %I TO %I', current_database(), current_user);
    END IF;
END
$$;

REVOKE ALL ON FUNCTION pgstream._wal_obstacle(oid) FROM PUBLIC;
