//! What every field of every event means: the data behind `docs/events.md`.
//!
//! Rust's doc comments cannot be read by a program, so the meanings are written here
//! again, as a table for people who have a log and not the source. A test
//! compares the tables with the fields that the examples really have.

mod alias;
mod bucket;
mod common;
mod intent;
pub(crate) mod markdown;
mod observation;
mod pipeline;
mod plan;
mod run;
mod session;
mod sets;
mod settings;
mod snapshot;
mod task;
pub mod words;

use annals_domain::{AnyEvent, StreamKind};

pub use sets::{HEADER, Sets, sets};

/// One event type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventDoc {
    /// The name under which it is stored.
    pub event_type: &'static str,
    /// What happened, in a sentence.
    pub meaning: &'static str,
    /// The fields, in the order in which they are stored.
    pub fields: &'static [FieldDoc],
}

/// One field of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldDoc {
    /// The name that text formats use.
    pub name: &'static str,
    /// The type; a question mark says that it may be absent.
    pub kind: &'static str,
    /// Which part of the event holds the value.
    pub part: Part,
    /// What it means.
    pub meaning: &'static str,
}

/// Where the value of a field is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// In the structure.
    Structure,
    /// In a piece of content; the structure has the piece's number.
    Content,
    /// A name, or several: they are content, and a fold sees them. What is one of the
    /// program's own words is in the structure.
    Name,
    /// Nowhere itself: it is a group of fields.
    Group(&'static [FieldDoc]),
    /// Nowhere itself: it is a list of groups of fields.
    Groups(&'static [FieldDoc]),
}

const fn event(
    event_type: &'static str,
    meaning: &'static str,
    fields: &'static [FieldDoc],
) -> EventDoc {
    EventDoc {
        event_type,
        meaning,
        fields,
    }
}

const fn structure(name: &'static str, kind: &'static str, meaning: &'static str) -> FieldDoc {
    FieldDoc {
        name,
        kind,
        part: Part::Structure,
        meaning,
    }
}

const fn content(name: &'static str, kind: &'static str, meaning: &'static str) -> FieldDoc {
    FieldDoc {
        name,
        kind,
        part: Part::Content,
        meaning,
    }
}

const fn name(name: &'static str, kind: &'static str, meaning: &'static str) -> FieldDoc {
    FieldDoc {
        name,
        kind,
        part: Part::Name,
        meaning,
    }
}

const fn group(
    name: &'static str,
    kind: &'static str,
    fields: &'static [FieldDoc],
    meaning: &'static str,
) -> FieldDoc {
    FieldDoc {
        name,
        kind,
        part: Part::Group(fields),
        meaning,
    }
}

const fn groups(
    name: &'static str,
    kind: &'static str,
    fields: &'static [FieldDoc],
    meaning: &'static str,
) -> FieldDoc {
    FieldDoc {
        name,
        kind,
        part: Part::Groups(fields),
        meaning,
    }
}

/// The events of one kind of stream, in the order of the domain.
pub fn events(kind: StreamKind) -> &'static [EventDoc] {
    match kind {
        StreamKind::Intent => intent::EVENTS,
        StreamKind::Plan => plan::EVENTS,
        StreamKind::Task => task::EVENTS,
        StreamKind::Run => run::EVENTS,
        StreamKind::Snapshot => snapshot::EVENTS,
        StreamKind::Pipeline => pipeline::EVENTS,
        StreamKind::Alias => alias::EVENTS,
        StreamKind::Session => session::EVENTS,
        StreamKind::Bucket => bucket::EVENTS,
        StreamKind::Settings => settings::EVENTS,
        StreamKind::Observation => observation::EVENTS,
    }
}

/// What the streams of a kind are about.
pub fn stream_meaning(kind: StreamKind) -> &'static str {
    match kind {
        StreamKind::Intent => {
            "A request with its interpretation: the entry point of every workflow."
        }
        StreamKind::Plan => {
            "A sequence of steps derived from an intent. Each revision is a separate plan."
        }
        StreamKind::Task => "A unit of work, stable across retries.",
        StreamKind::Run => {
            "One attempt at a task, with all that happens in it: tool invocations, patch sets, \
             evidence, provenance and the decision."
        }
        StreamKind::Snapshot => "What an agent observed when a run began.",
        StreamKind::Session => {
            "An agent's work under a policy: the commands that it gave, the gate's verdicts, \
             approvals, results and plans. A command and its verdict are two events of one append."
        }
        StreamKind::Bucket => {
            "A token bucket that sessions share whose policy profiles have the same name and \
             limits. The UUID follows from both, the kind of command and the log's secret of that time."
        }
        StreamKind::Settings => {
            "The rules that the log's deciders follow. There is one such stream in a log; its UUID is of \
             version 5, over \"settings.annals\"."
        }
        StreamKind::Observation => {
            "What an agent noticed: an epiphany or a reflection, with what it rests on. It is open \
             until an intent names it as its cause, or an actor finds nothing to do."
        }
        StreamKind::Alias => {
            "A name for people, which refers to an object. The UUID follows from the name and the \
             log's secret of that time."
        }
        StreamKind::Pipeline => {
            "Context frames that accumulate throughout the work. Evictions are not events: the \
             window follows from the frames and the limit in force."
        }
    }
}

/// The current version of an event type's shape.
fn current_version(event_type: &str) -> Option<u16> {
    AnyEvent::types()
        .into_iter()
        .find(|(_, name, _)| *name == event_type)
        .map(|(_, _, v)| v)
}
