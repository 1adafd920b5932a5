-- An opening for writing asks whether content is in an object store: where none is, without a look at every row.
CREATE INDEX IF NOT EXISTS blobs_in_objects ON {s}.blobs (log) WHERE object IS NOT NULL;
