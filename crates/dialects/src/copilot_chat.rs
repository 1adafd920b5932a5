//! Recordings of Copilot Chat in VS Code: the database of OpenTelemetry spans that it keeps of its work.
//!
//! A prompt is a span of the agent, with a span for each request to a model, each tool and each hook below it. A span
//! is written when it is over, so that those below come before it: what names a span that is not there yet is left for
//! a later import. An agent that runs below another one is a sub-agent. Requests that the program makes beside the
//! conversation, as for its title, are side chains of the session that they name, or sessions of their own.
//!
//! Each request repeats all that was said before; of what it repeats, only what no span has said is recorded. The
//! tokens of the agent's own span are sums of those of its requests.

mod fields;
mod span;
mod tools;

use annals_event_log::IdSecret;

use crate::import::bad_line::BadLine;
use crate::import::database::{self, Row, TableOf, Tables};
use crate::import::format::{Format, Head, Kind};
use crate::import::redacted::RedactedText;
use crate::transcript::item::Read;
use span::Spans;
use tools::AGENT;

pub use tools::ids;

/// Copilot Chat's databases.
pub(crate) static KIND: Kind = Kind {
    agent: &AGENT,
    title: "Copilot Chat in VS Code",
    endings: &["db"],
    unwanted: "its name does not end with .db",
    left: "it is a database of Copilot Chat",
    recognizes,
    format: || Box::new(CopilotChat::default()),
};

static TABLES: Tables = Tables {
    tables: &[
        TableOf {
            name: "spans",
            columns: &fields::COLUMNS,
            keys: &["parent_span_id", "span_id", "start_time_ms"],
            is_missed: |_| true,
        },
        TableOf {
            name: "span_attributes",
            columns: &["span_id", "key", "value"],
            keys: &["key", "span_id"],
            is_missed: |_| true,
        },
        TableOf {
            name: "span_events",
            columns: &["span_id", "name", "timestamp_ms", "attributes"],
            keys: &["timestamp_ms", "span_id"],
            is_missed: |_| true,
        },
    ],
    beside: &[],
    marks: &[&["span_id", "trace_id"]],
    // Spans in the order in which they began, and each behind its parent, also where its clock says otherwise; each
    // with its attributes and events behind it. A line that leads up from a span ends after 32 of them.
    order: "LEFT JOIN (\
                WITH RECURSIVE line(span, above, at, depth) AS (\
                    SELECT b, a, c, 0 FROM keys WHERE nr = 0 \
                    UNION ALL \
                    SELECT line.span, up.a, max(line.at, up.c), line.depth + 1 \
                    FROM line JOIN keys AS up ON up.rowid = (\
                        SELECT x.rowid FROM keys AS x WHERE x.nr = 0 AND x.b = line.above LIMIT 1) \
                    WHERE line.depth < 32) \
                SELECT span, max(at) AS at, max(depth) AS depth FROM line GROUP BY span\
            ) AS place ON place.span = k.b \
            ORDER BY at, depth, b, nr, a, id",
};

/// Names of its tables and columns, as they are written in a schema.
const SCHEMA: [&[u8]; 4] = [
    b"span_attributes",
    b"chat_session_id",
    b"conversation_id",
    b"operation_name",
];

/// A database with its tables, as far as the beginning says, or its name.
fn recognizes(head: &Head<'_>) -> bool {
    let has = |name: &[u8]| head.bytes.windows(name.len()).any(|found| found == name);
    database::is_one(head.bytes) && (head.name == "agent-traces.db" || SCHEMA.into_iter().all(has))
}

#[derive(Default)]
struct CopilotChat {
    spans: Spans,
    is_ended: bool,
}

impl Format for CopilotChat {
    fn ended(&mut self) {
        self.is_ended = true;
    }

    fn begin(&mut self, _: &str) {
        self.spans = Spans::new(self.is_ended);
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

    fn row(&mut self, row: Row, names: Option<&IdSecret>) -> Result<Vec<Read>, BadLine> {
        Ok(self.spans.row(&row, names))
    }

    fn end(&mut self) -> Vec<Read> {
        self.spans.end()
    }
}
