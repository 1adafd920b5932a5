//! The statements over a log's tables, with the name of their schema in them: a search path would not survive a pool
//! of connections in between.

macro_rules! statements {
    ($($(#[$doc:meta])* $name:ident: $text:expr,)+) => {
        /// Each statement's text. In those over a log's rows `$1` is the log.
        #[derive(Debug)]
        pub(crate) struct Statements {
            $($(#[$doc])* pub(crate) $name: String,)+
        }

        impl Statements {
            /// The statements over the tables of a schema.
            pub(crate) fn new(schema: &str) -> Statements {
                Statements { $($name: in_schema($text, schema),)+ }
            }
        }
    };
}

/// A text with the schema's name where `{s}` is.
pub(crate) fn in_schema(text: &str, schema: &str) -> String {
    // Names of schemas are checked to have no quotes.
    text.replace("{s}", &format!("\"{schema}\""))
}

/// One page, forward. Lengths are added up while rows are only looked at, and content is sent for as many records as
/// fill the page: at least for one.
const PAGE: &str = "
    SELECT key, CASE WHEN total <= $4 OR nth = 1 THEN record END, position, stream, version, event_type FROM (
        SELECT key, record, position, stream, version, event_type,
            sum(octet_length(record)) OVER (ORDER BY key) AS total,
            row_number() OVER (ORDER BY key) AS nth
        FROM (SELECT {key} AS key, record, position, stream, version, event_type FROM {s}.records WHERE log = $1 AND {where}{key} >= $2
            ORDER BY {key} LIMIT $3) AS page
    ) AS counted ORDER BY key";

/// The same, backward.
const PAGE_BACK: &str = "
    SELECT key, CASE WHEN total <= $4 OR nth = 1 THEN record END, position, stream, version, event_type FROM (
        SELECT key, record, position, stream, version, event_type,
            sum(octet_length(record)) OVER (ORDER BY key DESC) AS total,
            row_number() OVER (ORDER BY key DESC) AS nth
        FROM (SELECT {key} AS key, record, position, stream, version, event_type FROM {s}.records WHERE log = $1 AND {where}{key} <= $2
            ORDER BY {key} DESC LIMIT $3) AS page
    ) AS counted ORDER BY key DESC";

fn page(text: &str, key: &str, condition: &str) -> String {
    text.replace("{where}", condition).replace("{key}", key)
}

statements! {
    /// Where the log ends, held until the transaction does.
    /// With the schema's version, which another program may have raised since this one opened the log.
    lock_head: "SELECT position, recorded_seconds, recorded_nanos, frontier, streams, batches, blobs, blob_bytes,
            (SELECT version FROM {s}.schema_version WHERE only_row = 1)
        FROM {s}.heads WHERE log = $1 AND EXISTS (SELECT 1 FROM {s}.logs WHERE log = $1 AND log_id = $2) FOR UPDATE",
    /// The same without holding it.
    read_head: "SELECT position, recorded_seconds, recorded_nanos, frontier, streams, batches, blobs, blob_bytes
        FROM {s}.heads WHERE log = $1 AND EXISTS (SELECT 1 FROM {s}.logs WHERE log = $1 AND log_id = $2)",
    /// All else that appends ask: whether the records end where the head says and the clock of the server, in
    /// microseconds; then batches, versions of streams and sizes of content. The first column says which of these a row is. By
    /// itself: within the statement that waits for the head's lock, all of it would be from before the wait. `OFFSET 0`
    /// has each looked up by its whole key, which a plan from when the log was small would not do.
    known: "SELECT 0 AS kind, NULL::uuid,
            (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
            ((h.position = 0 OR EXISTS (SELECT 1 FROM {s}.records r WHERE r.log = $1 AND r.position = h.position))
            AND NOT EXISTS (SELECT 1 FROM {s}.records r WHERE r.log = $1 AND r.position = h.position + 1))::int::bigint,
            NULL::bytea, NULL::bytea, NULL::text
        FROM {s}.heads h WHERE h.log = $1
        UNION ALL SELECT 1, b.batch, b.first, b.last, b.salt, b.digest, NULL FROM unnest($2::uuid[]) AS asked (id),
            LATERAL (SELECT * FROM {s}.batches WHERE log = $1 AND batch = asked.id OFFSET 0) AS b
        UNION ALL SELECT 2, NULL, s.version, NULL, NULL, NULL, s.stream FROM unnest($3::text[]) AS asked (name),
            LATERAL (SELECT * FROM {s}.streams WHERE log = $1 AND stream = asked.name OFFSET 0) AS s
        UNION ALL SELECT 3, NULL, b.size, NULL, NULL, b.digest, NULL FROM unnest($4::bytea[]) AS asked (digest),
            LATERAL (SELECT digest, size FROM {s}.blobs WHERE log = $1 AND digest = asked.digest OFFSET 0) AS b",
    check_records: "SELECT count(*), coalesce(max(position), 0) FROM {s}.records WHERE log = $1",
    check_streams: "SELECT coalesce(r.stream, s.stream)
        FROM (SELECT stream, count(*) AS events, max(version) AS last FROM {s}.records WHERE log = $1 GROUP BY stream) AS r
        FULL JOIN (SELECT stream, version FROM {s}.streams WHERE log = $1) AS s ON s.stream = r.stream
        WHERE r.last IS DISTINCT FROM s.version OR r.events IS DISTINCT FROM r.last LIMIT $2",
    check_batches: "SELECT first FROM (SELECT first, last, lead(first) OVER (ORDER BY first) AS next,
                lag(last) OVER (ORDER BY first) AS before FROM {s}.batches WHERE log = $1) AS b
        WHERE last < first OR next <> last + 1 OR (before IS NULL AND first <> 1) OR (next IS NULL AND last <> $3)
        LIMIT $2",
    /// The batch is at 57 of a record's header, which is behind the two bytes of its length (docs/storage-format.md,
    /// section 4); the server counts from 1. Where it is another one than that of the record before, a batch begins.
    check_batch_ids: "SELECT coalesce(b.first, r.position)
        FROM (SELECT position, id FROM (SELECT position, substring(record FROM 60 FOR 16) AS id,
                    lag(substring(record FROM 60 FOR 16)) OVER (ORDER BY position) AS before
                FROM {s}.records WHERE log = $1) AS each WHERE before IS DISTINCT FROM id) AS r
        FULL JOIN (SELECT first, batch FROM {s}.batches WHERE log = $1) AS b ON b.first = r.position
        WHERE uuid_send(b.batch) IS DISTINCT FROM r.id LIMIT $2",
    /// Hashes that the tree of so many records has not.
    check_tree: "SELECT level, number FROM {s}.tree WHERE log = $1 AND (level < 1 OR level > 62 OR level % 8 <> 0
            OR number < 0 OR number >= ($3::bigint >> level::int)) LIMIT $2",
    /// Rows of models are committed behind the records that they follow from, so that they are in no server before them.
    check_models: "SELECT model, position FROM {s}.models WHERE log = $1 AND position > $3 LIMIT $2",
    check_counts: "SELECT (SELECT count(*) FROM {s}.streams WHERE log = $1),
        (SELECT count(*) FROM {s}.batches WHERE log = $1), (SELECT count(*) FROM {s}.blobs WHERE log = $1),
        (SELECT coalesce(sum(size), 0)::bigint FROM {s}.blobs WHERE log = $1)",
    /// Numbers of logs are given out again where a schema is made again: the log's own id is what it is known by.
    head_position: "SELECT position FROM {s}.heads
        WHERE log = $1 AND EXISTS (SELECT 1 FROM {s}.logs WHERE log = $1 AND log_id = $2)",
    touch_head: "UPDATE {s}.heads SET position = position WHERE log = $1 RETURNING position",
    waits_for_standbys: "SELECT coalesce(current_setting('synchronous_standby_names', true), '') <> ''",
    counts: "SELECT position, streams, batches, blobs, blob_bytes FROM {s}.heads WHERE log = $1",
    size: "SELECT coalesce(sum(pg_total_relation_size(format('{s}.%I', tablename)::regclass)), 0)::bigint
        FROM pg_tables WHERE schemaname = $1",

    version: "SELECT version FROM {s}.streams WHERE log = $1 AND stream = $2",
    streams: "SELECT stream, version FROM {s}.streams WHERE log = $1 AND stream >= $2 ORDER BY stream LIMIT $3",
    streams_after: "SELECT stream, version FROM {s}.streams WHERE log = $1 AND stream > $2 ORDER BY stream LIMIT $3",

    batch: "SELECT batch, first, last, salt, digest FROM {s}.batches WHERE log = $1 AND batch = $2",
    forget_requests: "UPDATE {s}.batches SET salt = NULL, digest = NULL WHERE log = $1 AND batch = ANY($2)",

    blob: "SELECT content, object, size FROM {s}.blobs WHERE log = $1 AND digest = $2",
    some_objects: "SELECT object FROM {s}.blobs WHERE log = $1 AND object IS NOT NULL LIMIT 8",
    stored_blobs: "SELECT b.digest FROM unnest($2::bytea[]) AS asked (digest),
        LATERAL (SELECT digest FROM {s}.blobs WHERE log = $1 AND digest = asked.digest OFFSET 0) AS b",
    add_blobs: "INSERT INTO {s}.blobs (log, digest, size, content, object)
        SELECT $1, * FROM unnest($2::bytea[], $3::bigint[], $4::bytea[], $5::text[])",
    remove_blobs: "DELETE FROM {s}.blobs WHERE log = $1 AND digest = ANY($2) RETURNING size, object",
    remove_objects: "INSERT INTO {s}.removed_objects (log, object) SELECT $1, unnest($2::text[])",
    removed_objects: "SELECT object FROM {s}.removed_objects
        WHERE log = $1 AND EXISTS (SELECT 1 FROM {s}.logs WHERE log = $1 AND log_id = $2) AND object > $3 ORDER BY object LIMIT $4",
    forget_objects: "DELETE FROM {s}.removed_objects WHERE log = $1 AND object = ANY($2)",

    /// Records, versions of their streams, batches and hashes of the tree, and the head with them: the server takes one
    /// statement in half the time of five.
    add: "WITH added_records AS (
            INSERT INTO {s}.records (log, position, stream, version, event_type, leaf, record)
            SELECT $1, * FROM unnest($2::bigint[], $3::text[], $4::bigint[], $5::text[], $6::bytea[], $7::bytea[])
        ), set_versions AS (
            INSERT INTO {s}.streams (log, stream, version) SELECT $1, * FROM unnest($8::text[], $9::bigint[])
            ON CONFLICT (log, stream) DO UPDATE SET version = excluded.version
        ), set_batches AS (
            INSERT INTO {s}.batches (log, batch, first, last, salt, digest)
            SELECT $1, * FROM unnest($10::uuid[], $11::bigint[], $12::bigint[], $13::bytea[], $14::bytea[])
            ON CONFLICT (log, batch) DO UPDATE SET last = excluded.last
        ), added_hashes AS (
            INSERT INTO {s}.tree (log, level, number, hash) SELECT $1, * FROM unnest($15::bigint[], $16::bigint[], $17::bytea[])
        )
        UPDATE {s}.heads SET position = $18, recorded_seconds = $19, recorded_nanos = $20, frontier = $21,
            streams = $22, batches = $23, blobs = $24, blob_bytes = $25 WHERE log = $1",
    records_at: "SELECT r.position, r.record FROM unnest($2::bigint[]) AS asked (position),
        LATERAL (SELECT position, record FROM {s}.records WHERE log = $1 AND position = asked.position OFFSET 0) AS r
        ORDER BY r.position",
    replace_records: "UPDATE {s}.records AS r SET record = new.record
        FROM unnest($2::bigint[], $3::bytea[]) AS new (position, record)
        WHERE r.log = $1 AND r.position = new.position",

    leaves: "SELECT leaf FROM {s}.records WHERE log = $1 AND position > $2 AND position <= $3 ORDER BY position",
    hashes: "SELECT hash FROM {s}.tree WHERE log = $1 AND level = $4 AND number >= $2 AND number < $3 ORDER BY number",

    page: &page(PAGE, "position", ""),
    page_back: &page(PAGE_BACK, "position", ""),
    page_of_stream: &page(PAGE, "version", "stream = $5 AND "),
    page_of_stream_back: &page(PAGE_BACK, "version", "stream = $5 AND "),
    page_of_type: &page(PAGE, "position", "event_type = $5 AND "),
    page_of_type_back: &page(PAGE_BACK, "position", "event_type = $5 AND "),

    id_secret: "SELECT id_secret FROM {s}.epochs WHERE log = $1",
    /// Held by commits of read models, several at a time, so that no redaction comes between.
    share_epoch: "SELECT epoch FROM {s}.epochs WHERE log = $1 FOR SHARE",
    set_epoch: "UPDATE {s}.epochs SET epoch = $2, id_secret = $3 WHERE log = $1",

    checkpoint: "SELECT e.epoch, m.position FROM {s}.epochs AS e
        LEFT JOIN {s}.models AS m ON m.log = e.log AND m.model = $2 WHERE e.log = $1",
    begin_model: "INSERT INTO {s}.models (log, model, position) VALUES ($1, $2, 0) ON CONFLICT (log, model) DO NOTHING",
    lock_model: "SELECT position FROM {s}.models WHERE log = $1 AND model = $2 FOR UPDATE",
    set_model: "UPDATE {s}.models SET position = $3 WHERE log = $1 AND model = $2",
    set_rows: "INSERT INTO {s}.model_rows (log, model, key, value)
        SELECT $1, $2, * FROM unnest($3::bytea[], $4::bytea[])
        ON CONFLICT (log, model, key) DO UPDATE SET value = excluded.value",
    remove_rows: "DELETE FROM {s}.model_rows WHERE log = $1 AND model = $2 AND key = ANY($3)",
    rows: "SELECT m.key, m.value FROM unnest($3::bytea[]) AS asked (key),
        LATERAL (SELECT key, value FROM {s}.model_rows WHERE log = $1 AND model = $2 AND key = asked.key OFFSET 0) AS m",
    scan: "SELECT key, value FROM {s}.model_rows WHERE log = $1 AND model = $2
        AND key >= $3 AND ($4::bytea IS NULL OR key < $4) AND ($5::bytea IS NULL OR key > $5)
        ORDER BY key LIMIT $6",
    scan_back: "SELECT key, value FROM {s}.model_rows WHERE log = $1 AND model = $2
        AND key >= $3 AND ($4::bytea IS NULL OR key < $4) AND ($5::bytea IS NULL OR key < $5)
        ORDER BY key DESC LIMIT $6",
    drop_model: "DELETE FROM {s}.models WHERE log = $1 AND model = $2",
    drop_rows: "DELETE FROM {s}.model_rows WHERE log = $1 AND model = $2",
    drop_other_models: "DELETE FROM {s}.models WHERE log = $1 AND model <> $2",
    drop_other_rows: "DELETE FROM {s}.model_rows WHERE log = $1 AND model <> $2",

    take_lease: "INSERT INTO {s}.leases AS l (log, name, holder, held_until)
        SELECT $1::bigint, $2::text, $3::uuid, clock_timestamp() + $4::bigint * interval '1 millisecond'
            FROM {s}.logs WHERE log = $1 AND log_id = $5
        ON CONFLICT (log, name) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
        WHERE l.holder = excluded.holder OR l.held_until < clock_timestamp()",
    end_lease: "DELETE FROM {s}.leases WHERE log = $1 AND name = $2 AND holder = $3",

    find_log: "SELECT log, log_id FROM {s}.logs WHERE name = $1",
    add_log: "INSERT INTO {s}.logs (name, log_id) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING RETURNING log",
    add_head: "INSERT INTO {s}.heads (log, position, recorded_seconds, recorded_nanos, frontier, streams, batches, blobs,
        blob_bytes) VALUES ($1, 0, 0, 0, $2, 0, 0, 0, 0)",
    add_epoch: "INSERT INTO {s}.epochs (log, epoch, id_secret) VALUES ($1, 0, $2)",
}
