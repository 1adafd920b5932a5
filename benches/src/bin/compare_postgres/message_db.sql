-- What message-db stores and how it writes a message: written for this comparison after its documentation and the
-- structure of its published schema (the project message-db/message-db, `database/`), none of whose text is here. It has
-- the table, the three indexes and the function with what each message costs: one lock for a category, the stream's
-- last position by an index, functions in PL/pgSQL that two of the indexes call for each row. Roles, views,
-- the functions that read and messages for debugging are left out.
CREATE SCHEMA message_store;

CREATE TABLE message_store.messages (
    global_position bigserial PRIMARY KEY,
    position bigint NOT NULL,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    time timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'utc'),
    stream_name text NOT NULL,
    type text NOT NULL,
    data jsonb,
    metadata jsonb
);

-- What is before the first hyphen of a stream's name.
CREATE FUNCTION message_store.category(name varchar) RETURNS varchar LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN split_part(name, '-', 1);
END $$;

-- The key of a category's lock: the first 64 bits of its MD5.
CREATE FUNCTION message_store.hash_64(name varchar) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN ('x' || substr(md5(name), 1, 16))::bit(64)::bigint;
END $$;

CREATE UNIQUE INDEX messages_id ON message_store.messages (id);
CREATE UNIQUE INDEX messages_stream ON message_store.messages
    (stream_name, position, message_store.category(metadata ->> 'correlationStreamName'));
CREATE INDEX messages_category ON message_store.messages
    (message_store.category(stream_name), global_position,
        message_store.category(metadata ->> 'correlationStreamName'));

-- The position of a stream's last message; none of a stream that is not there.
CREATE FUNCTION message_store.stream_version(name varchar) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    last_position bigint;
BEGIN
    SELECT max(m.position) INTO last_position FROM message_store.messages AS m WHERE m.stream_name = name;
    RETURN last_position;
END $$;

-- Held to the end of the transaction: who writes to a category waits for who does already.
CREATE FUNCTION message_store.acquire_lock(name varchar) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    key bigint;
BEGIN
    key := message_store.hash_64(message_store.category(name));
    PERFORM pg_advisory_xact_lock(key);
    RETURN key;
END $$;

-- Writes a message behind the last one of its stream, and answers its position there.
CREATE FUNCTION message_store.write_message(
    message varchar, stream varchar, kind varchar, body jsonb,
    about jsonb DEFAULT NULL, expected bigint DEFAULT NULL
) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    last_position bigint;
BEGIN
    PERFORM message_store.acquire_lock(stream);
    last_position := coalesce(message_store.stream_version(stream), -1);
    IF expected IS NOT NULL AND expected <> last_position THEN
        RAISE EXCEPTION 'Wrong expected version: % of the stream %, which is at %', expected, stream, last_position;
    END IF;
    INSERT INTO message_store.messages (id, stream_name, position, type, data, metadata)
        VALUES (message::uuid, stream, last_position + 1, kind, body, about);
    RETURN last_position + 1;
END $$;
