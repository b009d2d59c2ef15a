-- Create our publication, without tables, if it is missing. It comes before the slot: what is
-- decoded from before the publication was made cannot be read.
CREATE OR REPLACE FUNCTION pgstream._create_publication() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_publication WHERE pubname = pgstream._publication_name()) THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE PUBLICATION %I', pgstream._publication_name());
    -- Else an UPDATE of a table with such a column would fail.
    IF current_setting('server_version_num')::int >= 180000 THEN
        EXECUTE format('ALTER PUBLICATION %I SET (publish_generated_columns = stored)',
                       pgstream._publication_name());
    END IF;
END
$$;

REVOKE ALL ON FUNCTION pgstream._create_publication() FROM PUBLIC;
