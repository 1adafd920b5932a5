//! The Agent Trajectory Interchange Format (ATIF) of the Harbor framework, versions 1.0 to 1.7: a
//! document of steps, with the trajectories of sub-agents in it. [`crate::atif_export`] writes it.

mod fields;
mod step;
mod tools;

use annals_event_log::IdSecret;

use crate::import::bad_line::BadLine;
use crate::import::document::Document;
use crate::import::format::{Format, Head, Kind, Numbered};
use crate::import::redacted::RedactedText;
use crate::transcript::item::Read;
use tools::AGENT;

pub use tools::ids;

/// Trajectories in ATIF.
pub(crate) static KIND: Kind = Kind {
    agent: &AGENT,
    title: "ATIF",
    endings: &["json", "jsonl"],
    unwanted: "its name does not end with .json or .jsonl",
    left: "it is a trajectory in ATIF",
    recognizes,
    format: || Box::new(Atif),
};

/// How the name of a version of the format begins.
const VERSION: &str = "ATIF-v1";

/// A trajectory says in which version of the format it is.
fn recognizes(head: &Head<'_>) -> bool {
    let first = Document::read(first_line(head.text), "steps");
    let whole = Document::read(head.text, "steps");
    let is_own = |document: &Document<'_>| {
        let version = document.field::<String>("schema_version");
        version.is_some_and(|version| version.starts_with(VERSION))
    };
    is_own(&first) || is_own(&whole)
}

fn first_line(text: &str) -> &str {
    text.trim_start().lines().next().unwrap_or_default()
}

struct Atif;

impl Format for Atif {
    /// It is one document, unless its first line is a whole trajectory and there is more.
    fn is_document(&self, head: &Head<'_>) -> bool {
        let text = head.text.trim();
        let first = Document::read(first_line(text), "steps");
        let is_whole = first.bad.is_none() && first.has_list;
        match text.contains('\n') {
            true => !is_whole,
            // Of a long line the end is not in the head.
            false => !head.name.ends_with(".jsonl"),
        }
    }

    /// A trajectory on a line.
    fn line(&mut self, text: RedactedText, names: Option<&IdSecret>) -> Result<Vec<Read>, BadLine> {
        let read = self.document(text, names)?;
        read.into_iter().map(|(_, read)| read).collect()
    }

    fn document(
        &mut self,
        text: RedactedText,
        names: Option<&IdSecret>,
    ) -> Result<Vec<Numbered>, BadLine> {
        step::document(text.whole_characters().as_str(), names)
    }
}
