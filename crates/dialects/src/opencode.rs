//! Recordings of OpenCode: its database, in two generations of tables.
//!
//! The first generation has a row for each session (`session`), message (`message`) and part of a message (`part`). The
//! second has a row for each session (`session_v2`; in its first versions `session`) and for each message with its parts
//! (`session_message`). OpenCode 2 copies older sessions and leaves the older tables as they were. If both generations
//! have a session, the first is read, and of the second the later messages.
//!
//! A session with a parent is a sub-agent session: a side chain of the first session in its line of parents. A fork
//! begins with copies of another session's messages, which are not read again. Rows are rewritten while a message grows;
//! an unfinished message is left for a later import.

mod copies;
mod fields;
mod row;
mod session;
mod session_message;
mod tools;
mod usage;

use annals_event_log::IdSecret;

use crate::import::bad_line::BadLine;
use crate::import::database::{self, Row, TableOf, Tables};
use crate::import::format::{Format, Head, Kind};
use crate::import::redacted::RedactedText;
use crate::transcript::item::Read;
use row::Rows;
use tools::AGENT;

pub use tools::ids;

/// OpenCode's databases.
pub(crate) static KIND: Kind = Kind {
    agent: &AGENT,
    title: "OpenCode",
    endings: &["db"],
    unwanted: "its name does not end with .db",
    left: "it is a database of OpenCode",
    recognizes,
    format: || Box::new(OpenCode::default()),
};

/// The columns of a session, the same in the tables of both versions.
const SESSION: [&str; 7] = [
    "id",
    "parent_id",
    "fork_session_id",
    "directory",
    "version",
    "title",
    "time_created",
];

static TABLES: Tables = Tables {
    tables: &[
        TableOf {
            name: "session",
            columns: &SESSION,
            keys: &["id", "id", "time_created"],
            is_missed: |has| !has("session_v2") && !has("session_message"),
        },
        TableOf {
            name: "message",
            columns: &["id", "session_id", "time_created", "data"],
            keys: &["session_id", "id", "time_created"],
            is_missed: |has| !has("session_v2") && !has("session_message"),
        },
        TableOf {
            name: "part",
            columns: &["id", "message_id", "session_id", "time_created", "data"],
            keys: &["session_id", "message_id", "time_created", "id"],
            is_missed: |has| has("message") || (!has("session_v2") && !has("session_message")),
        },
        TableOf {
            name: "session_v2",
            columns: &SESSION,
            keys: &["id", "id", "time_created"],
            is_missed: |has| has("session_message") && !has("session"),
        },
        TableOf {
            name: "session_message",
            columns: &["id", "session_id", "type", "seq", "time_created", "data"],
            keys: &["session_id", "seq", "time_created", "id"],
            is_missed: |has| has("session_v2"),
        },
    ],
    // Queued prompts, which become messages, and state around the conversation.
    beside: &[
        "session_inbox",
        "session_input",
        "session_pending",
        "session_share",
    ],
    marks: &[&["session_id", "data"], &["directory", "title"]],
    // All sessions first, since a later one may be the parent; the newer table's row of a session before the older one's.
    // Then messages, by the time of their session, so that a fork follows its origin. Within a session the first
    // generation precedes the second, and each message its parts.
    order: "ORDER BY nr NOT IN (0, 3), \
            coalesce(\
                (SELECT min(c) FROM keys AS s WHERE s.nr = 3 AND s.b = k.a), \
                (SELECT min(c) FROM keys AS s WHERE s.nr = 0 AND s.b = k.a)), \
            a, nr IN (0, 4), \
            CASE nr WHEN 2 THEN coalesce(\
                (SELECT min(c) FROM keys AS m WHERE m.nr = 1 AND m.b = k.b), c) \
            WHEN 4 THEN coalesce(b, c) ELSE c END, \
            b, nr, d, id",
};

/// Names of its tables and columns, as they are written in a schema.
const SCHEMAS: [&[&[u8]]; 2] = [
    &[b"session", b"message_id", b"session_id", b"time_created"],
    &[b"session_message", b"session_id", b"seq", b"time_created"],
];

/// A database with its tables, as far as the beginning says, or its name.
fn recognizes(head: &Head<'_>) -> bool {
    let has = |name: &[u8]| head.bytes.windows(name.len()).any(|found| found == name);
    let is_named = head.name.starts_with("opencode") && head.name.ends_with(".db");
    let is_of = |schema: &[&[u8]]| schema.iter().all(|name| has(name));
    database::is_one(head.bytes) && (is_named || SCHEMAS.into_iter().any(is_of))
}

#[derive(Default)]
struct OpenCode {
    rows: Rows,
    is_ended: bool,
}

impl Format for OpenCode {
    fn ended(&mut self) {
        self.is_ended = true;
    }

    fn begin(&mut self, _: &str) {
        self.rows = Rows::new(self.is_ended);
    }

    fn line(&mut self, text: RedactedText, _: Option<&IdSecret>) -> Result<Vec<Read>, BadLine> {
        Ok(vec![Read::Unknown {
            kind: "(no database)".to_owned(),
            text: text.into_string(),
        }])
    }

    fn tables(&self) -> Option<&'static Tables> {
        Some(&TABLES)
    }

    fn row(&mut self, row: Row, _: Option<&IdSecret>) -> Result<Vec<Read>, BadLine> {
        self.rows.row(&row)
    }

    fn end(&mut self) -> Vec<Read> {
        self.rows.end()
    }
}
