//! What every event and every field of it means, for people who have a log and not the source.
//!
//! It is written once: in the doc comments of the domain's event structs. Their JSON Schemas have
//! it from there, and this module reads it, with the types, out of the schemas.

mod fields;
pub(crate) mod markdown;
mod schema;
mod sets;
pub mod words;

use std::sync::LazyLock;

use annals_domain::StreamKind;

use self::fields::Reader;
use self::schema::Schemas;
use self::words::Vocabulary;

pub use schema::{all_schemas, schema_of};
pub use sets::{HEADER, Sets, sets};

/// One event type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventDoc {
    /// The name under which it is stored.
    pub event_type: &'static str,
    /// The current version of its shape.
    pub version: u16,
    /// What happened, in sentences.
    pub meaning: String,
    /// The fields, in the order in which they are stored.
    pub fields: Vec<FieldDoc>,
}

/// One field of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldDoc {
    /// The name that text formats use.
    pub name: String,
    /// The type; a question mark says that it may be absent.
    pub kind: String,
    /// Which part of the event holds the value.
    pub part: Part,
    /// The enum whose words its value has, or its elements: the name of a [`Vocabulary`].
    pub words: Option<String>,
    /// What it means.
    pub meaning: String,
}

/// Where the value of a field is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// In the structure.
    Structure,
    /// In a piece of content; the structure has the piece's number.
    Content,
    /// A name, or several: they are content, and a fold sees them. What is one of the
    /// program's own words is in the structure.
    Name,
    /// Nowhere itself: it is a group of fields.
    Group(Vec<FieldDoc>),
    /// Nowhere itself: it is a list of groups of fields.
    Groups(Vec<FieldDoc>),
}

/// All that is documented, read from the schemas once.
struct Docs {
    events: Vec<(StreamKind, Vec<EventDoc>)>,
    vocabularies: Vec<Vocabulary>,
}

static DOCS: LazyLock<Docs> = LazyLock::new(|| {
    let schemas = Schemas::of_all();
    let reader = Reader::new(&schemas.definitions);
    let of_kind = |kind: &StreamKind| {
        let events = schemas.events.iter().filter(|event| event.stream == *kind);
        let docs = events.map(|event| reader.event(event));
        (*kind, docs.collect())
    };
    Docs {
        events: StreamKind::ALL.iter().map(of_kind).collect(),
        vocabularies: words::read(&schemas.definitions),
    }
});

/// The events of one kind of stream, in the order of the domain.
pub fn events(kind: StreamKind) -> &'static [EventDoc] {
    let found = DOCS.events.iter().find(|(of, _)| *of == kind);
    found.map_or(&[], |(_, events)| events)
}
