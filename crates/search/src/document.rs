//! What is searched of an event: its texts, each with its facet.

use std::collections::HashMap;

use annals_domain::pipeline::{Event as PipelineEvent, FramePushed};
use annals_domain::{ActorRef, AnyEvent, Kind, Slot, StreamRef, Timestamp, cut};
use annals_event_log::{Digest, Position};
use annals_projections::{Entry, PieceValue, Text};
use annals_wire::StructureJson;
use bytes::Bytes;
use serde_json::Value;
use uuid::Uuid;

use crate::facet::{Facet, Is, Searched, fields_of};
use crate::json_text::add_json;

/// Bytes of a text that are searched from its beginning.
pub const BEGINNING: usize = 16 * 1024;
/// The same of what came back from a tool.
pub const RESULT_BEGINNING: usize = 4 * 1024;
/// Bytes of a longer text that are searched at its end, where a failed command says why.
pub const END: usize = 2 * 1024;

/// What stands for a removed name begins so.
const REMOVED: &str = "[removed";

/// An event as it is searched.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Its place in the log.
    pub position: Position,
    /// When it happened, by its author's clock.
    pub occurred_at: Timestamp,
    /// Who caused it.
    pub actor: ActorRef,
    /// The stream that it is in.
    pub stream: StreamRef,
    /// The object that it is about, if it is about one.
    pub object: Option<(Kind, Uuid)>,
    /// The name of its type.
    pub event_type: &'static str,
    /// Its texts, each at most as long as it is searched.
    pub texts: Vec<(Facet, String)>,
}

/// Whether events of a type have anything that is searched.
pub fn is_searched(event_type: &str) -> bool {
    event_type == FRAME_PUSHED || !fields_of(event_type).is_empty()
}

const FRAME_PUSHED: &str = "pipeline.frame_pushed";

/// The attachments of an event that are searched: outputs of tools.
pub fn attachments(entry: &Entry) -> Vec<Digest> {
    let mut wanted = Vec::new();
    let has_output = matches!(
        entry.event.event_type(),
        "run.tool_invoked" | "run.tool_ended" | "run.tool_invocation_adopted"
    );
    if has_output {
        let digest = |piece: &PieceValue| match piece {
            PieceValue::Attachment { digest, .. } => Some(*digest),
            PieceValue::Bytes(_) | PieceValue::Removed => None,
        };
        wanted.extend(entry.pieces.iter().filter_map(digest));
    }
    wanted
}

impl Document {
    /// What is searched of an event, with those of its [`attachments`] that are there.
    pub fn of(entry: &Entry, attached: &HashMap<Digest, Bytes>) -> Document {
        let mut texts = Texts {
            entry,
            attached,
            found: Vec::new(),
        };
        if let AnyEvent::Pipeline(PipelineEvent::FramePushed(frame)) = &entry.event {
            texts.frame(frame);
        } else {
            let fields = fields_of(entry.event.event_type());
            // A structure is a struct of plain values, which JSON can always hold.
            let event = serde_json::to_value(StructureJson(&entry.event)).unwrap_or_default();
            texts.group(&event, fields);
        }
        Document {
            position: entry.position,
            occurred_at: entry.occurred_at,
            actor: entry.actor.clone(),
            stream: entry.stream,
            object: entry.touches().first().copied(),
            event_type: entry.event.event_type(),
            texts: texts.found,
        }
    }

    /// What it is counted as: the kind of its object, or of its stream.
    pub fn kind(&self) -> &'static str {
        match self.object {
            Some((kind, _)) => kind.identifier(),
            None => self.stream.kind.as_str(),
        }
    }
}

/// Gathers the texts of an event.
struct Texts<'e> {
    entry: &'e Entry,
    attached: &'e HashMap<Digest, Bytes>,
    found: Vec<(Facet, String)>,
}

impl Texts<'_> {
    /// A frame's summary is most often the beginning of its content, which is then enough.
    fn frame(&mut self, frame: &FramePushed) {
        let facet = Facet::of_frame(&frame.kind);
        let mut content = String::new();
        if let Some(Text::Present(json)) = frame.content.map(|slot| self.entry.text(slot)) {
            add_json(&json, &mut content);
        }
        if let Text::Present(summary) = self.entry.text(frame.summary)
            && !content.starts_with(&summary)
        {
            self.add(facet, summary);
        }
        self.add(facet, content);
    }

    fn group(&mut self, value: &Value, fields: &[Searched]) {
        match value {
            Value::Object(group) => {
                for field in fields {
                    let Some(value) = group.get(&field.name) else {
                        continue;
                    };
                    match &field.is {
                        Is::Group(fields) => self.group(value, fields),
                        Is::Texts(facet) => self.pieces(value, *facet, false),
                        Is::Json(facet) => self.pieces(value, *facet, true),
                        Is::Names(facet) => self.names(value, *facet),
                    }
                }
            }
            Value::Array(groups) => groups.iter().for_each(|group| self.group(group, fields)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Pieces by their numbers: one, a list, or pairs of a name and what it is of.
    fn pieces(&mut self, value: &Value, facet: Facet, is_json: bool) {
        match value {
            Value::Number(number) => {
                let number = number
                    .as_u64()
                    .and_then(|number| u16::try_from(number).ok());
                if let Some(slot) = number.map(Slot) {
                    self.piece(slot, facet, is_json);
                }
            }
            Value::Array(items) => items
                .iter()
                .for_each(|item| self.pieces(item, facet, is_json)),
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Object(_) => {}
        }
    }

    fn piece(&mut self, slot: Slot, facet: Facet, is_json: bool) {
        match self.entry.pieces.get(usize::from(slot.0)) {
            Some(PieceValue::Bytes(bytes)) if is_json => {
                let mut text = String::new();
                add_json(&String::from_utf8_lossy(bytes), &mut text);
                self.add(facet, text);
            }
            Some(PieceValue::Bytes(bytes)) => {
                self.add(facet, String::from_utf8_lossy(bytes).into_owned())
            }
            Some(PieceValue::Attachment { digest, .. }) => {
                let text = self
                    .attached
                    .get(digest)
                    .and_then(|bytes| std::str::from_utf8(bytes).ok());
                self.add(facet, text.unwrap_or_default().to_owned());
            }
            Some(PieceValue::Removed) | None => {}
        }
    }

    fn names(&mut self, value: &Value, facet: Facet) {
        match value {
            Value::String(name) if !name.starts_with(REMOVED) => self.add(facet, name.clone()),
            Value::Array(names) => names.iter().for_each(|name| self.names(name, facet)),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Object(_) => {}
        }
    }

    /// Adds a text, as far as it is searched: a long one as its beginning and its end.
    fn add(&mut self, facet: Facet, mut text: String) {
        let beginning = match facet {
            Facet::Results => RESULT_BEGINNING,
            Facet::Prompts | Facet::Tools | Facet::Rationale => BEGINNING,
        };
        if text.is_empty() {
            return;
        }
        if text.len() > beginning + END {
            let mut end = text.len() - END;
            while !text.is_char_boundary(end) {
                end += 1;
            }
            let end = text.get(end..).unwrap_or_default().to_owned();
            text.truncate(cut(&text, beginning).len());
            self.found.push((facet, text));
            self.found.push((facet, end));
        } else {
            self.found.push((facet, text));
        }
    }
}
