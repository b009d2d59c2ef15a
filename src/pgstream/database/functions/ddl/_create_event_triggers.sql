-- Create the event triggers, if the role may: PostgreSQL lets superusers only. Without them DDL is
-- noticed at the next refresh, and cannot be refused.
CREATE OR REPLACE FUNCTION pgstream._create_event_triggers() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
BEGIN
    IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        RETURN;
    END IF;
    DROP EVENT TRIGGER IF EXISTS pg_stream_ddl_end;
    CREATE EVENT TRIGGER pg_stream_ddl_end ON ddl_command_end
        WHEN TAG IN ('ALTER TABLE', 'ALTER VIEW', 'CREATE VIEW')
        EXECUTE FUNCTION pgstream._on_ddl_end();
    DROP EVENT TRIGGER IF EXISTS pg_stream_sql_drop;
    CREATE EVENT TRIGGER pg_stream_sql_drop ON sql_drop
        WHEN TAG IN ('DROP TABLE', 'DROP VIEW', 'DROP SCHEMA')
        EXECUTE FUNCTION pgstream._on_sql_drop();
END
$$;

REVOKE ALL ON FUNCTION pgstream._create_event_triggers() FROM PUBLIC;
