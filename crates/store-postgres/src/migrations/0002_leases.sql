-- Who does what one process does for all of a log, and until when it may without renewing.
CREATE TABLE IF NOT EXISTS {s}.leases (
    log bigint NOT NULL,
    name text COLLATE "C" NOT NULL,
    holder uuid NOT NULL,
    held_until timestamptz NOT NULL,
    PRIMARY KEY (log, name)
);
