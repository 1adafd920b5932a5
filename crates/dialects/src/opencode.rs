//! Recordings of OpenCode: its database, with a row for each session, message and part of a message.
//!
//! A session with a parent is a sub-agent's: a side chain of the session that its line of parents
//! begins with. Rows are written again while a message grows; what is not over yet is left for a
//! later import.

mod fields;
mod row;
mod tools;

use annals_event_log::IdSecret;

use crate::import::bad_line::BadLine;
use crate::import::database::{self, Row, TableOf, Tables};
use crate::import::format::{Format, Head, Kind};
use crate::import::redacted::RedactedText;
use crate::transcript::item::Read;
use row::Sessions;
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

static TABLES: Tables = Tables {
    tables: &[
        TableOf {
            name: "session",
            columns: &[
                "id",
                "parent_id",
                "directory",
                "version",
                "title",
                "time_created",
            ],
            keys: &["id"],
        },
        TableOf {
            name: "message",
            columns: &["id", "session_id", "time_created", "data"],
            keys: &["session_id", "id", "time_created"],
        },
        TableOf {
            name: "part",
            columns: &["id", "message_id", "session_id", "time_created", "data"],
            keys: &["session_id", "message_id", "time_created", "id"],
        },
    ],
    // All sessions, as one that was begun later may be the parent; then each session's messages in
    // their order, each with its parts behind it.
    order: "ORDER BY nr > 0, a, \
            CASE nr WHEN 2 THEN coalesce(\
                (SELECT min(c) FROM keys AS m WHERE m.nr = 1 AND m.b = k.b), c) ELSE c END, \
            b, nr, d, id",
};

/// Names of its tables and columns, as they are written in a schema.
const SCHEMA: [&[u8]; 4] = [b"session", b"message_id", b"session_id", b"time_created"];

/// A database with its tables, as far as the beginning says, or its name.
fn recognizes(head: &Head<'_>) -> bool {
    let has = |name: &[u8]| head.bytes.windows(name.len()).any(|found| found == name);
    let is_named = head.name.starts_with("opencode") && head.name.ends_with(".db");
    database::is_one(head.bytes) && (is_named || SCHEMA.into_iter().all(has))
}

#[derive(Default)]
struct OpenCode {
    sessions: Sessions,
    is_ended: bool,
}

impl Format for OpenCode {
    fn ended(&mut self) {
        self.is_ended = true;
    }

    fn begin(&mut self, _: &str) {
        self.sessions = Sessions::new(self.is_ended);
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
        self.sessions.row(row)
    }

    fn end(&mut self) -> Vec<Read> {
        self.sessions.end()
    }
}
