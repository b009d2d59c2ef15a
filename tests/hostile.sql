-- What a role that may create in a schema of the search path can leave there: operators, functions
-- and types that fit better than PostgreSQL's own. Each tells that it was called, even if the
-- transaction is rolled back, and fails. `here` is replaced by the schema, `their_maker` by that role.

CREATE SEQUENCE here.calls;

CREATE FUNCTION here.caught() RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF current_user <> 'their_maker' THEN
        PERFORM pg_catalog.nextval('here.calls');
        RAISE EXCEPTION 'hijacked as %', current_user;
    END IF;
    RETURN true;
END $$;

DO $$
DECLARE
    pair text[];
    operator text;
    call text;
    number int := 0;
BEGIN
    -- Exact matches where PostgreSQL has to convert an argument, or has a polymorphic operator.
    FOREACH pair SLICE 1 IN ARRAY ARRAY[
        ['varchar', 'varchar'], ['varchar', 'text'], ['text', 'varchar'], ['text', 'text'],
        ['int4', 'int4'], ['int4', 'int8'],
        ['int8', 'int4'], ['numeric', 'int4'], ['numeric', 'int8'], ['int4', 'numeric'],
        ['text[]', 'text[]'], ['varchar[]', 'varchar[]'], ['int4[]', 'int4[]'],
        ['int8[]', 'int8[]'], ['anyarray', 'anyarray'], ['name', 'text'],
        ['name', 'varchar'], ['oid', 'int4'], ['oid', 'int8'], ['regproc', 'int4'],
        ['regtype', 'regtype'], ['regclass', 'oid'], ['xid8', 'xid8'], ['interval', 'interval'],
        ['bpchar', 'text'], ['jsonb', 'jsonb'], ['tid', 'tid'],
        ['tid[]', 'tid[]'], ['float8', 'int4'], ['float8', 'float8'], ['bool', 'bool']] LOOP
        FOREACH operator IN ARRAY ARRAY['=', '<>', '<', '<=', '>', '>=', '+', '||', '~~', '~'] LOOP
            number := number + 1;
            EXECUTE format('CREATE FUNCTION here.op_%s(%s, %s) RETURNS bool LANGUAGE sql IMMUTABLE '
                           'AS ''SELECT here.caught()''', number, pair[1], pair[2]);
            EXECUTE format('CREATE OPERATOR here.%s (FUNCTION = here.op_%s, LEFTARG = %s, '
                           'RIGHTARG = %s, RESTRICT = eqsel)', operator, number, pair[1], pair[2]);
        END LOOP;
    END LOOP;
    FOREACH call IN ARRAY ARRAY[
        'trim_scale(numeric)', 'scale(numeric)', 'pg_visible_in_snapshot(xid8, pg_snapshot)',
        'pg_snapshot_xmin(pg_snapshot)', 'generate_series(int4, int8)', 'generate_series(int4, int4)',
        'sum(int8)', 'sum(varchar)', 'max(varchar)', 'count(varchar)', 'count(int4)',
        'abs(int4)', 'sign(int8)', 'upper(varchar)', 'length(varchar)', 'lower(varchar)',
        'coalesce_(varchar)', 'unnest(text[])', 'unnest(varchar[])', 'array_position(int8[], int8)',
        'format_type(oid, int4)', 'to_regclass(text)', 'set_config(text, text, bool)',
        'pg_advisory_lock(int4, int4)', 'pg_try_advisory_xact_lock(int4, int4)', 'now()',
        'clock_timestamp()', 'pg_current_xact_id()', 'string_agg(varchar, varchar)',
        'pg_notify(text, text)', 'current_setting(text)', 'pg_relation_size(oid)',
        'justify_interval(interval)', 'to_jsonb(text)', 'greatest_(int4)', 'concat_ws(text, text)',
        'array_agg(varchar)', 'row_number()', 'bool_and(bool)', 'to_char(int8, text)'] LOOP
        EXECUTE format('CREATE FUNCTION here.%s RETURNS bool LANGUAGE sql IMMUTABLE AS '
                       '''SELECT here.caught()''', call);
    END LOOP;
END $$;

CREATE DOMAIN here.text AS pg_catalog.text CHECK (here.caught());
CREATE DOMAIN here.bigint AS pg_catalog.int8 CHECK (here.caught());
CREATE DOMAIN here.int8 AS pg_catalog.int8 CHECK (here.caught());
CREATE DOMAIN here.numeric AS pg_catalog.numeric CHECK (here.caught());
CREATE DOMAIN here.varchar AS pg_catalog.varchar CHECK (here.caught());
CREATE DOMAIN here.pg_snapshot AS pg_catalog.pg_snapshot CHECK (here.caught());
CREATE TYPE here.regclass AS ENUM ('hijacked');
CREATE TYPE here.oid AS ENUM ('hijacked');
