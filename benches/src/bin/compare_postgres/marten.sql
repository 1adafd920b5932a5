-- What Marten stores and how it appends events in its mode "Quick": written for this comparison after its documentation
-- and the structure of its published schema (the project JasperFx/marten, `src/Marten/Events/Schema`), none of whose text
-- is here. It has the tables of streams and events, their keys and the sequence, and the function with what each call
-- does: look at the stream, make it if need be, one row for each event with a number of the sequence, the stream's new
-- version. Streams have names, versions and sequence numbers are bigint, metadata of events is off (the default).
-- Projections, tenants in partitions and archiving are left out. {s} is the schema, one for each store.
CREATE SCHEMA {s};

CREATE TABLE {s}.mt_streams (
    id varchar PRIMARY KEY,
    type varchar,
    version bigint,
    timestamp timestamptz NOT NULL DEFAULT now(),
    snapshot jsonb,
    snapshot_version integer,
    created timestamptz NOT NULL DEFAULT now(),
    tenant_id varchar DEFAULT '*DEFAULT*',
    is_archived boolean DEFAULT false
);

CREATE TABLE {s}.mt_events (
    seq_id bigint PRIMARY KEY,
    id uuid NOT NULL,
    stream_id varchar REFERENCES {s}.mt_streams (id) ON DELETE CASCADE,
    version bigint NOT NULL,
    data jsonb NOT NULL,
    type varchar(500) NOT NULL,
    timestamp timestamptz NOT NULL DEFAULT now(),
    tenant_id varchar DEFAULT '*DEFAULT*',
    mt_dotnet_type varchar,
    is_archived boolean DEFAULT false
);

CREATE UNIQUE INDEX pk_mt_events_stream_and_version ON {s}.mt_events (stream_id, version);

CREATE SEQUENCE {s}.mt_events_sequence OWNED BY {s}.mt_events.seq_id;

-- Appends events to a stream, and answers its version and the numbers that the events got.
CREATE FUNCTION {s}.mt_quick_append_events(
    stream varchar, stream_type varchar, tenant varchar,
    ids uuid[], types varchar[], dotnet_types varchar[], bodies jsonb[]
) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
    last_version bigint;
    was_archived boolean;
    of_tenant varchar;
    seq bigint;
    answer bigint[];
BEGIN
    SELECT s.version, s.is_archived INTO last_version, was_archived FROM {s}.mt_streams AS s WHERE s.id = stream;
    IF last_version IS NULL THEN
        last_version := 0;
        INSERT INTO {s}.mt_streams (id, type, version, timestamp, tenant_id)
            VALUES (stream, stream_type, 0, now(), tenant);
    ELSE
        IF was_archived THEN
            RAISE EXCEPTION 'the stream % is archived', stream USING ERRCODE = 'MT001';
        END IF;
        IF tenant IS NOT NULL THEN
            SELECT s.tenant_id INTO of_tenant FROM {s}.mt_streams AS s WHERE s.id = stream;
            IF of_tenant <> tenant THEN
                RAISE EXCEPTION 'the stream % is another tenant''s', stream;
            END IF;
        END IF;
    END IF;
    answer := ARRAY[last_version + cardinality(ids)];
    FOR n IN 1 .. cardinality(ids) LOOP
        seq := nextval('{s}.mt_events_sequence');
        answer := answer || seq;
        last_version := last_version + 1;
        INSERT INTO {s}.mt_events
            (seq_id, id, stream_id, version, data, type, tenant_id, timestamp, mt_dotnet_type, is_archived)
            VALUES (seq, ids[n], stream, last_version, bodies[n], types[n], tenant, now(), dotnet_types[n], false);
    END LOOP;
    UPDATE {s}.mt_streams AS s SET version = last_version, timestamp = now() WHERE s.id = stream;
    RETURN answer;
END $$;
