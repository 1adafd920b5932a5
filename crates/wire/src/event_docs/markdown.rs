//! `docs/events.md`, written from the schemas and the examples.

use std::fmt::Write as _;

use annals_domain::{AnyEvent, Emitted, Kind, StreamKind};

use super::words::{Vocabulary, Word, vocabularies};
use super::{EventDoc, FieldDoc, Part, events, sets};
use crate::StructureJson;
use crate::sample::samples;

const INTRODUCTION: &str = "\
# Events

Every change is an event: a separate struct, stored under its type's name and
the version of its shape. An event has two parts. Its **structure** is what a
fold needs (ids, numbers, times, words) and is never removed. Its **content** is
what people read (prompts, summaries, paths, arguments): numbered pieces next to
the structure, each of which can be removed without breaking anything. Where a
field is content, the structure holds the piece's number, from 0. A **name** is a text
that a user or a program chose and that rules compare: a branch, a ticket, a kind that no list
has. It is content, and a fold sees it, or, where it was removed, a stand-in that equals
nothing else (`docs/redaction.md`).

Who acted, when, and in which batch is in the record's header, as
`docs/storage-format.md` describes it. There the structure is one byte for its
format, and then the fields in the order given here, in the standard
configuration of bincode 2. In format 2, which an event with names has, the number of the first
piece with names and how many there are (u16 each) come before the fields; these pieces are JSON lists of
texts, and in the fields a name is the text `#p.n` (text n of list p, both from 0), or
`#p.n+m` where the m texts behind it belong to it, too. In format 1 names, if there are any, are in the fields as
they are: older versions wrote them so, and no redaction removes these.

| Type | Bytes |
| --- | --- |
| u8 | one byte |
| u16, u32, u64, a piece's number | up to 250: one byte; else 251, 252 or 253, and then 2, 4 or 8 bytes, little-endian |
| i32, i64 | the same, after n became 2n, or -2n - 1 where it is negative |
| f64 | 8 bytes, little-endian |
| text, list | its length as a u64, in bytes or elements, and then these |
| a type with `?` | 0 where it is absent, else 1 and then the value |
| uuid, git id | its length as a u64 (16; 20 or 32), and then its bytes |
| SHA-256 | its 32 bytes |
| time | seconds since 1970 as an i64, nanoseconds as a u32 |
| word | its number as a u16; where other words are allowed, also a text, which is the word where the number is 0 (a name), and empty otherwise |
| pair, group of fields | the parts, one after the other |

What an event sets is said by the names of git-internal's JSON. Each event on an
object also sets its `updated_at` and takes its `checksum` away; one that creates
or adopts an object sets the whole header. Sessions, observations, buckets and aliases are
not git-internal's, so nothing is said of that there.

In the examples the structure is shown as JSON, with the content that it refers
to next to it.

`annals service events NAME` prints the JSON Schema of one event, as `annals log history --json` shows it, and
`annals service events --schema` those of all. In them `x-part` says what is content, `x-number` is the
number that is stored for a word, and `x-version` the version of the event's shape.

This page is generated from the doc comments of the structs in `crates/domain` that are the
events. A test compares it with what they say.
";

/// The documentation of the events, `docs/events.md`: every event's name, version, stream,
/// meaning and fields, with an example.
pub fn events_markdown() -> String {
    let mut out = String::from(INTRODUCTION);
    overview(&mut out);
    let samples = samples();
    for kind in StreamKind::ALL {
        let _ = write!(out, "\n## Stream `{kind}-<uuid>`\n\n{}\n", kind.meaning());
        for doc in events(*kind) {
            let examples = samples
                .iter()
                .filter(|s| s.event.event_type() == doc.event_type);
            one_event(&mut out, doc, examples);
        }
    }
    out.push_str("\n## Words and their numbers\n");
    for vocabulary in vocabularies() {
        one_vocabulary(&mut out, vocabulary);
    }
    out
}

fn overview(out: &mut String) {
    out.push_str(
        "\n## All events\n\n| Event | Version | Stream | Meaning |\n| --- | --- | --- | --- |\n",
    );
    for kind in StreamKind::ALL {
        for doc in events(*kind) {
            let anchor = doc.event_type.replace('.', "");
            let _ = writeln!(
                out,
                "| [`{}`](#{anchor}) | {} | {kind} | {} |",
                doc.event_type, doc.version, doc.meaning
            );
        }
    }
}

fn one_event<'a>(out: &mut String, doc: &EventDoc, examples: impl Iterator<Item = &'a Emitted>) {
    let _ = write!(
        out,
        "\n### `{}`\n\nVersion {}. {}\n\n",
        doc.event_type, doc.version, doc.meaning
    );
    if is_git_internals(doc.event_type) {
        sets_line(out, doc.event_type);
    }
    if doc.fields.is_empty() {
        out.push_str("It has no fields: that it happened is all it says.\n");
        examples_of(out, examples);
        return;
    }
    out.push_str("| Field | Type | Part | Meaning |\n| --- | --- | --- | --- |\n");
    for field in &doc.fields {
        field_rows(out, "", field);
    }
    examples_of(out, examples);
}

fn examples_of<'a>(out: &mut String, examples: impl Iterator<Item = &'a Emitted>) {
    for example in examples {
        out.push_str("\n```json\n");
        out.push_str(&example_json(example));
        out.push_str("\n```\n");
    }
}

/// Whether an event is about an object of git-internal's.
fn is_git_internals(event_type: &str) -> bool {
    let types = AnyEvent::types();
    let found = types.iter().find(|(_, name, _)| *name == event_type);
    found
        .and_then(|(stream, _, _)| stream.kind())
        .is_some_and(Kind::is_git_internal)
}

/// The fields of the objects' JSON that an event sets.
fn sets_line(out: &mut String, event_type: &str) {
    let sets = sets(event_type);
    if sets.is_empty() {
        out.push_str("It sets no field of its own.\n\n");
        return;
    }
    let objects: Vec<String> = sets
        .iter()
        .map(|(kind, fields)| {
            let fields: Vec<String> = fields.iter().map(|field| format!("`{field}`")).collect();
            let object = match event_type.ends_with(".metadata_set") {
                true => "object that it names".to_owned(),
                false => kind.to_string(),
            };
            format!("{} of the {object}", fields.join(", "))
        })
        .collect();
    let _ = write!(out, "It sets {}.\n\n", objects.join("; and "));
}

fn field_rows(out: &mut String, prefix: &str, field: &FieldDoc) {
    let (part, inner, suffix): (_, &[FieldDoc], _) = match &field.part {
        Part::Structure => ("structure", &[], ""),
        Part::Content => ("content", &[], ""),
        Part::Name => ("name", &[], ""),
        Part::Group(inner) => ("", inner, "."),
        Part::Groups(inner) => ("", inner, "[]."),
    };
    let FieldDoc { name, meaning, .. } = field;
    let kind = linked(field);
    let _ = writeln!(out, "| `{prefix}{name}` | {kind} | {part} | {meaning} |");
    for field in inner {
        field_rows(out, &format!("{prefix}{name}{suffix}"), field);
    }
}

/// The type of a field; a word leads to the words that it may be.
fn linked(field: &FieldDoc) -> String {
    match &field.words {
        Some(words) => {
            let link = format!("[word](#{})", words.to_lowercase());
            field.kind.replace("word", &link)
        }
        None => field.kind.clone(),
    }
}

/// An example as JSON: its structure, and its content piece by piece.
fn example_json(example: &Emitted) -> String {
    let mut out = String::from("{\n  \"structure\": ");
    out.push_str(&indented(&structure_json(&example.event)));
    let pieces = example.pieces.list();
    if !pieces.is_empty() {
        out.push_str(",\n  \"content\": [");
        for (number, piece) in pieces.iter().enumerate() {
            let text = String::from_utf8_lossy(&piece.bytes).into_owned();
            let separator = if number == 0 { "" } else { "," };
            let _ = write!(out, "{separator}\n    {}", serde_json::Value::String(text));
        }
        out.push_str("\n  ]");
    }
    out.push_str("\n}");
    out
}

/// A structure as JSON over several lines. The examples hold nothing that JSON
/// cannot say; should one ever, the test that reads them back fails.
fn structure_json(event: &AnyEvent) -> String {
    serde_json::to_string_pretty(&StructureJson(event)).unwrap_or_default()
}

fn indented(json: &str) -> String {
    json.replace('\n', "\n  ")
}

fn one_vocabulary(out: &mut String, vocabulary: &Vocabulary) {
    let Vocabulary {
        name,
        meaning,
        open,
        words,
    } = vocabulary;
    let _ = write!(out, "\n### {name}\n\n{meaning}");
    if *open {
        out.push_str(" Any other word is allowed too, with the number 0.");
    }
    out.push_str("\n\n| Number | Word | Meaning |\n| --- | --- | --- |\n");
    for Word {
        number,
        word,
        meaning,
    } in words
    {
        let _ = writeln!(out, "| {number} | `{word}` | {meaning} |");
    }
}
