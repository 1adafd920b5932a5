//! Gives the small numbers of steps their meaning, in the current state of the model.

use annals_event_log::{
    Actor, Append, Blob, Content, Digest, Expectation, Expected, NewEvent, PiecesOf, Position,
    Redaction, StreamName, Version, limits,
};
use bytes::Bytes;
use chrono::{DateTime, TimeDelta};
use uuid::Uuid;

use super::log::ModelLog;
use super::record::ModelRecord;
use crate::generators::steps::{
    AppendStep, BatchStep, CopiedBatch, CopyFlaw, CopyStep, EventStep, ExpectStep, Flaw, PieceStep,
    RedactStep, STREAMS, TYPES,
};

/// Makes requests of steps.
#[derive(Debug, Default)]
pub(super) struct Maker {
    /// How many ids were given.
    ids: u128,
    /// Every append that was tried, also those of redactions.
    pub(super) tried: Vec<Append>,
}

/// An element by its place among those there are, however large the number.
pub(super) fn nth<T>(list: &[T], number: usize) -> Option<&T> {
    list.get(number.checked_rem(list.len())?)
}

/// The name of a stream, by its number.
pub(super) fn stream(number: usize) -> StreamName {
    let name = nth(&STREAMS, number).copied().unwrap_or("a-1");
    // The list has allowed names only; a test says so.
    name.parse().unwrap_or_else(|_| unreachable_name(name))
}

#[allow(clippy::panic, reason = "a list of names in this crate is wrong")]
fn unreachable_name(name: &str) -> StreamName {
    panic!("{name:?} is not the name of a stream")
}

/// The blob with a number: a small one, or one that would not fit in a record.
pub(super) fn blob(number: u8) -> Blob {
    let size = match number % 2 {
        0 => 10 + usize::from(number),
        _ => limits::INLINE + usize::from(number),
    };
    Blob::new(vec![number; size])
}

impl Maker {
    fn id(&mut self) -> Uuid {
        self.ids += 1;
        Uuid::from_u128((1 << 100) + self.ids)
    }

    fn event(&mut self, step: &EventStep) -> NewEvent {
        let id = self.id();
        let salt = *id.as_bytes();
        let content = step.pieces.iter().map(|piece| match piece {
            PieceStep::Inline(size) => Content::Inline {
                salt,
                bytes: vec![7; *size].into(),
            },
            PieceStep::Blob {
                blob: number,
                attachment,
                false_size,
                ..
            } => {
                let blob = blob(*number);
                let size = blob.bytes().len() as u64 + u64::from(*false_size);
                let digest = blob.digest();
                match attachment {
                    true => Content::Attachment { salt, digest, size },
                    false => Content::Blob { salt, digest, size },
                }
            }
        });
        let content: Vec<Content> = content.collect();
        let event_type = nth(&TYPES, step.event_type).copied().unwrap_or_default();
        NewEvent {
            stream: stream(step.stream),
            id,
            event_type: event_type.into(),
            schema_version: 1 + u16::from(salt[15]),
            occurred_at: DateTime::from_timestamp(1_700_000_000, u32::from(salt[15]))
                .unwrap_or_default(),
            actor: Actor {
                kind: "agent".to_owned(),
                id: "tester".to_owned(),
                display_name: None,
                auth_context: (content.len() > 1).then_some(1),
            },
            correlation: salt[15].is_multiple_of(2).then_some(id),
            causation: salt[15].is_multiple_of(3).then_some(id),
            structure: vec![salt[15]; step.structure].into(),
            content,
        }
    }

    fn blobs(events: &[EventStep]) -> Vec<Blob> {
        let pieces = events.iter().flat_map(|event| &event.pieces);
        let supplied = pieces.filter_map(|piece| match piece {
            PieceStep::Blob {
                blob: number,
                supplied: true,
                ..
            } => Some(blob(*number)),
            _ => None,
        });
        supplied.collect()
    }

    /// The append of a step; it is remembered.
    pub(super) fn append(&mut self, model: &ModelLog, step: &AppendStep) -> Append {
        if let BatchStep::Repeat(number) = step.batch
            && let Some(earlier) = nth(&self.tried, number)
        {
            return earlier.clone();
        }
        let (batch, request) = match step.batch {
            BatchStep::OtherRequest(number) if !self.tried.is_empty() => {
                let earlier = nth(&self.tried, number).map(|append| append.batch);
                (earlier.unwrap_or_default(), Bytes::from_static(b"another"))
            }
            _ => {
                let batch = self.id();
                (batch, Bytes::copy_from_slice(batch.as_bytes()))
            }
        };
        let expectations = step.expectations.iter().map(|(number, expected)| {
            let stream = stream(*number);
            let expected = match expected {
                ExpectStep::Any => Expected::Any,
                ExpectStep::NoStream => Expected::NoStream,
                ExpectStep::Exists => Expected::Exists,
                ExpectStep::Off(by) => {
                    let head = model.head(&stream).0;
                    Expected::Exactly(Version(head.saturating_add_signed((*by).into())))
                }
            };
            Expectation { stream, expected }
        });
        let mut append = Append {
            batch,
            request,
            expectations: expectations.collect(),
            events: step.events.iter().map(|event| self.event(event)).collect(),
            blobs: Maker::blobs(&step.events),
        };
        if let Some(flaw) = step.flaw {
            spoil(&mut append, flaw);
        }
        self.tried.push(append.clone());
        append
    }

    /// The records of a copy, and the blobs that come with them.
    pub(super) fn copy(
        &mut self,
        model: &ModelLog,
        step: &CopyStep,
    ) -> (Vec<ModelRecord>, Vec<Blob>) {
        let last = model.records().last();
        let new = self.id();
        let batch = match step.batch {
            CopiedBatch::New => new,
            CopiedBatch::Last => last.map_or(new, |last| last.batch),
            CopiedBatch::Earlier(number) => {
                nth(&self.tried, number).map_or(new, |append| append.batch)
            }
        };
        let mut recorded_at = last.map_or(DateTime::UNIX_EPOCH, |last| last.recorded_at);
        let mut position = model.watermark();
        let mut records: Vec<ModelRecord> = Vec::new();
        for event in &step.events {
            let event = self.event(event);
            position = position.next();
            recorded_at += TimeDelta::nanoseconds(1);
            let before = records.iter().filter(|it| it.event.stream == event.stream);
            let version = model.head(&event.stream).0 + before.count() as u64;
            records.push(ModelRecord {
                position,
                version: Version(version).next(),
                recorded_at,
                batch,
                event,
            });
        }
        let mut blobs = Maker::blobs(&step.events);
        match (step.flaw, records.first_mut()) {
            (Some(CopyFlaw::Empty), _) => records.clear(),
            (Some(CopyFlaw::NoBlobs), _) => blobs.clear(),
            (Some(CopyFlaw::Gap), _) => {
                records
                    .iter_mut()
                    .for_each(|it| it.position = it.position.next());
            }
            (Some(CopyFlaw::Overlap), Some(first)) if first.position.0 > 1 => {
                records.iter_mut().for_each(|it| it.position.0 -= 1);
            }
            (Some(CopyFlaw::Version), Some(first)) => first.version = first.version.next(),
            (Some(CopyFlaw::Time), Some(first)) => {
                first.recorded_at -= TimeDelta::nanoseconds(2);
            }
            _ => {}
        }
        (records, blobs)
    }

    /// The redaction of a step.
    pub(super) fn redaction(&mut self, model: &ModelLog, step: &RedactStep) -> Redaction {
        let append = self.append(model, &step.append);
        let blobs: Vec<Digest> = step
            .blobs
            .iter()
            .map(|number| blob(*number).digest())
            .collect();
        let mut removed: Vec<PiecesOf> = Vec::new();
        let mut remove = |position: Position, piece: usize| {
            let piece = u16::try_from(piece).unwrap_or(u16::MAX);
            match removed.iter_mut().find(|from| from.position == position) {
                Some(from) if from.pieces.contains(&piece) => {}
                Some(from) => from.pieces.push(piece),
                None => removed.push(PiecesOf {
                    position,
                    pieces: vec![piece],
                }),
            }
        };
        for (record, piece) in &step.pieces {
            let record = nth(model.records(), *record);
            let content = record.map_or(&[][..], |record| &record.event.content);
            if let (Some(record), Some(piece)) = (record, piece.checked_rem(content.len())) {
                remove(record.position, piece);
            }
        }
        for record in model.records().iter().filter(|_| step.thorough) {
            for (number, piece) in record.event.content.iter().enumerate() {
                if piece.blob().is_some_and(|digest| blobs.contains(&digest)) {
                    remove(record.position, number);
                }
            }
        }
        if step.missing {
            remove(Position(model.watermark().0 / 2 + 1), 9);
        }
        removed.sort_by_key(|from| from.position);
        Redaction {
            append,
            removed,
            blobs,
            seen: Position::START,
        }
    }
}

fn spoil(append: &mut Append, flaw: Flaw) {
    if flaw == Flaw::NoEvents {
        append.events.clear();
    }
    let Some(event) = append.events.last_mut() else {
        return;
    };
    let salt = [3; 16];
    let inline = |size: usize| Content::Inline {
        salt,
        bytes: vec![1; size].into(),
    };
    match flaw {
        Flaw::NoEvents => {}
        Flaw::EmptyType => event.event_type = "".into(),
        Flaw::ControlType => event.event_type = "a\nb".into(),
        Flaw::LongType => event.event_type = "t".repeat(limits::EVENT_TYPE + 1).into(),
        Flaw::SchemaZero => event.schema_version = 0,
        Flaw::BlankActor => event.actor.id = "  ".to_owned(),
        Flaw::LongKind => event.actor.kind = "k".repeat(limits::ACTOR_KIND + 1),
        Flaw::LongActor => event.actor.id = "i".repeat(limits::ACTOR_ID + 1),
        Flaw::LargeStructure => event.structure = vec![0; limits::STRUCTURE + 1].into(),
        Flaw::LargePiece => event.content.push(inline(limits::INLINE + 1)),
        Flaw::ManyPieces => event.content = vec![inline(0); limits::PIECES + 1],
        Flaw::NoActorPiece => event.actor.display_name = Some(40),
        Flaw::RemovedPiece => event.content.push(Content::Removed {
            salted: Digest::of(b"gone"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_in_the_list_is_that_of_a_stream() {
        for (number, name) in STREAMS.iter().enumerate() {
            assert_eq!(stream(number).as_str(), *name);
        }
    }
}
