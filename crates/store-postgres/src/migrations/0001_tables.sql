-- The tables of all logs of this schema. Every statement may be run again.

-- The logs, by their names.
CREATE TABLE IF NOT EXISTS {s}.logs (
    log bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    log_id uuid NOT NULL UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- Where each log ends. An append holds its log's row from its first statement to its commit, so that positions are
-- given in the order of commits. It is rewritten by each of them: its page keeps room for the versions that come.
CREATE TABLE IF NOT EXISTS {s}.heads (
    log bigint PRIMARY KEY,
    position bigint NOT NULL,
    recorded_seconds bigint NOT NULL,
    recorded_nanos bigint NOT NULL,
    frontier bytea NOT NULL,
    streams bigint NOT NULL,
    batches bigint NOT NULL,
    blobs bigint NOT NULL,
    blob_bytes bigint NOT NULL
) WITH (fillfactor = 10);

-- What a redaction changes and a commit of read models must not overtake.
CREATE TABLE IF NOT EXISTS {s}.epochs (
    log bigint PRIMARY KEY,
    epoch bigint NOT NULL,
    id_secret bytea NOT NULL
);

CREATE TABLE IF NOT EXISTS {s}.records (
    log bigint NOT NULL,
    position bigint NOT NULL,
    stream text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    event_type text COLLATE "C" NOT NULL,
    leaf bytea NOT NULL,
    record bytea NOT NULL,
    PRIMARY KEY (log, position)
);
CREATE UNIQUE INDEX IF NOT EXISTS records_by_stream ON {s}.records (log, stream, version);
CREATE INDEX IF NOT EXISTS records_by_type ON {s}.records (log, event_type, position);

CREATE TABLE IF NOT EXISTS {s}.streams (
    log bigint NOT NULL,
    stream text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (log, stream)
) WITH (fillfactor = 80);

-- Salt and digest of a request are missing where content of the batch was removed, or where it was copied.
CREATE TABLE IF NOT EXISTS {s}.batches (
    log bigint NOT NULL,
    batch uuid NOT NULL,
    first bigint NOT NULL,
    last bigint NOT NULL,
    salt bytea,
    digest bytea,
    PRIMARY KEY (log, batch)
);

-- The hashes of the tree's levels 8, 16 and so on; those of level 0 are with the records.
CREATE TABLE IF NOT EXISTS {s}.tree (
    log bigint NOT NULL,
    level bigint NOT NULL,
    number bigint NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (log, level, number)
);

-- The content is here, or in the object store under a name.
CREATE TABLE IF NOT EXISTS {s}.blobs (
    log bigint NOT NULL,
    digest bytea NOT NULL,
    size bigint NOT NULL,
    content bytea,
    object text,
    PRIMARY KEY (log, digest),
    CHECK ((content IS NULL) <> (object IS NULL))
);

-- Objects that a redaction took the rows of, until they are removed themselves.
CREATE TABLE IF NOT EXISTS {s}.removed_objects (
    log bigint NOT NULL,
    object text COLLATE "C" NOT NULL,
    PRIMARY KEY (log, object)
);

CREATE TABLE IF NOT EXISTS {s}.models (
    log bigint NOT NULL,
    model text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    PRIMARY KEY (log, model)
);

CREATE TABLE IF NOT EXISTS {s}.model_rows (
    log bigint NOT NULL,
    model text COLLATE "C" NOT NULL,
    key bytea NOT NULL,
    value bytea NOT NULL,
    PRIMARY KEY (log, model, key)
);

-- What the server samples of a column it keeps, also when the row is gone: of content it samples nothing.
ALTER TABLE {s}.epochs ALTER COLUMN id_secret SET STATISTICS 0;
ALTER TABLE {s}.records ALTER COLUMN record SET STATISTICS 0;
ALTER TABLE {s}.blobs ALTER COLUMN content SET STATISTICS 0;
ALTER TABLE {s}.model_rows ALTER COLUMN key SET STATISTICS 0;
ALTER TABLE {s}.model_rows ALTER COLUMN value SET STATISTICS 0;
