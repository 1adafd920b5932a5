//! What is recorded of another system comes back as it came.

use std::collections::HashMap;

use annals_dialects::contracts::{
    BacklogQueried, Commands, ContractEvent, Correlation, EventBody, Object, Rendered, Renderer,
    Style, record,
};
use annals_domain::session::{Adopted, Event, WorkItemSummary};
use annals_domain::{
    ActorRef, AnyEvent, Dialect, Pieces, SessionId, StreamKind, StreamRef, Timestamp,
};
use annals_event_log::{Digest, Position, Version};
use annals_projections::{Entry, PieceValue};
use proptest::prelude::*;
use uuid::Uuid;

use super::any;
use crate::cases;

/// The entries of one session's stream, and the files that they refer to.
#[derive(Default)]
pub(super) struct Stream {
    session: Uuid,
    pub(super) entries: Vec<Entry>,
    files: HashMap<Digest, Vec<u8>>,
}

impl Stream {
    pub(super) fn of(session: Uuid) -> Stream {
        Stream {
            session,
            ..Stream::default()
        }
    }

    pub(super) fn push(&mut self, event_id: Uuid, event: AnyEvent, pieces: Pieces) {
        let number = self.entries.len() as u64 + 1;
        let mut piece = |piece: annals_domain::NewPiece| {
            if !piece.attachment {
                return PieceValue::Bytes(piece.bytes.into());
            }
            let digest = Digest::of(&piece.bytes);
            let size = piece.bytes.len() as u64;
            self.files.insert(digest, piece.bytes);
            PieceValue::Attachment { digest, size }
        };
        let pieces = pieces.into_list().into_iter().map(&mut piece).collect();
        self.entries.push(Entry {
            position: Position(number),
            version: Version(number),
            event_id,
            batch_id: Uuid::from_u128(number.into()),
            occurred_at: Timestamp::EPOCH,
            recorded_at: Timestamp::EPOCH,
            actor: ActorRef::agent("coder"),
            correlation: None,
            causation: None,
            stream: StreamRef {
                kind: StreamKind::Session,
                id: self.session,
            },
            event,
            pieces,
        });
    }

    /// Records an object, whose id the first of its events has.
    pub(super) fn record(&mut self, object: &Object) {
        let mut id = object.id();
        for (event, pieces) in record(object).unwrap() {
            self.push(id.take().unwrap_or_default(), event, pieces);
        }
    }

    pub(super) fn adopted(&mut self) {
        let event = Event::from(Adopted {
            dialect: Dialect::Contracts,
            config: None,
        });
        self.push(Uuid::nil(), AnyEvent::Session(event), Pieces::new());
    }

    /// What all entries show.
    pub(super) fn show(&self, commands: Commands) -> Vec<Rendered> {
        let mut renderer = Renderer::new(commands);
        let mut shown = Vec::new();
        for entry in &self.entries {
            let file = renderer.wanted(entry).map(|digest| &self.files[&digest]);
            shown.extend(renderer.render(entry, file.map(Vec::as_slice)));
        }
        shown.extend(renderer.finish());
        shown
    }

    /// The same with all content removed.
    fn without_content(mut self) -> Stream {
        let pieces = self.entries.iter_mut().flat_map(|entry| &mut entry.pieces);
        pieces.for_each(|piece| *piece = PieceValue::Removed);
        self
    }
}

/// An object as one of the session.
fn of_session(mut object: Object, session: Uuid) -> Object {
    match &mut object {
        Object::Command(command) => command.correlation.session = SessionId(session),
        Object::Event(event) => event.correlation.session = SessionId(session),
        Object::Foreign(_) => {}
    }
    object
}

fn complete(objects: &[Object]) -> Vec<Rendered> {
    let rendered = |object: &Object| Rendered {
        object: object.clone(),
        incomplete: false,
    };
    objects.iter().map(rendered).collect()
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn what_is_recorded_is_shown_as_it_came(
        objects in prop::collection::vec(any::object(), 1..6),
        session in any::<u128>().prop_map(Uuid::from_u128),
    ) {
        let objects: Vec<Object> = objects.into_iter().map(|o| of_session(o, session)).collect();
        let mut stream = Stream::of(session);
        objects.iter().for_each(|object| stream.record(object));
        prop_assert_eq!(stream.show(Commands::All), complete(&objects));
    }

    /// What remains is an object of the same kind that can be read.
    #[test]
    fn what_was_removed_is_said(object in any::object()) {
        let session = object.session().unwrap().0;
        let mut stream = Stream::of(session);
        stream.record(&object);
        let has_content = stream.entries.iter().any(|entry| !entry.pieces.is_empty());
        let shown = stream.without_content().show(Commands::All);
        prop_assert_eq!(shown.len(), 1);
        prop_assert_eq!(shown[0].incomplete, has_content);
        let text = shown[0].object.write(Style::Pretty).unwrap();
        let read = Object::read(&text).unwrap().value;
        prop_assert_eq!(read.kind(), object.kind());
        prop_assert_eq!(read.session(), object.session());
        prop_assert_eq!(&read, &shown[0].object);
        if !matches!(object, Object::Foreign(_)) {
            prop_assert_eq!(read.id(), object.id());
        }
    }
}

fn backlog(id: u128, items: usize) -> Object {
    let item = |number: usize| WorkItemSummary::new(format!("ANN-{number:0200}"), "t", "Open");
    Object::Event(ContractEvent {
        id: Uuid::from_u128(id),
        correlation: Correlation {
            session: SessionId(Uuid::nil()),
            command: None,
            parent: None,
            plan_node: None,
        },
        body: EventBody::BacklogQueried(BacklogQueried {
            items: (0..items).map(item).collect(),
        }),
    })
}

#[test]
fn a_long_backlog_is_several_events_and_one_object() {
    let objects = [
        backlog(7, 1_000),
        backlog(8, 1),
        backlog(9, 0),
        backlog(10, 500),
    ];
    let mut stream = Stream::of(Uuid::nil());
    objects.iter().for_each(|object| stream.record(object));
    assert!(stream.entries.len() > 8, "{}", stream.entries.len());
    assert_eq!(stream.show(Commands::Adopted), complete(&objects));
}

/// A prefix of the stream may end within a backlog; nothing of it is lost.
#[test]
fn a_backlog_that_is_cut_off_is_shown_as_far_as_it_goes() {
    let mut stream = Stream::of(Uuid::nil());
    stream.record(&backlog(7, 1_000));
    stream.entries.truncate(2);
    let shown = stream.show(Commands::Adopted);
    let [
        Rendered {
            object: Object::Event(event),
            ..
        },
    ] = &shown[..]
    else {
        panic!("{} objects", shown.len());
    };
    let EventBody::BacklogQueried(body) = &event.body else {
        panic!("{}", event.body.kind());
    };
    assert_eq!(event.id, Uuid::from_u128(7));
    assert!(
        (200..1_000).contains(&body.items.len()),
        "{}",
        body.items.len()
    );
    // What comes after it is shown after it.
    let accepted = super::json(
        "CommandAccepted",
        &format!(r#""commandId":"{}""#, super::COMMAND),
    );
    stream.record(&super::object(&accepted));
    let shown = stream.show(Commands::Adopted);
    let kinds: Vec<&str> = shown.iter().map(|one| one.object.kind()).collect();
    assert_eq!(kinds, ["BacklogQueried", "CommandAccepted"]);
}

#[test]
fn commands_of_a_session_that_was_taken_over_are_part_of_its_stream() {
    let push = super::object(&super::json("QueryBacklog", ""));
    let session = push.session().unwrap().0;
    let mut own = Stream::of(session);
    own.record(&push);
    assert_eq!(own.show(Commands::Adopted), []);
    assert_eq!(
        own.show(Commands::All),
        complete(std::slice::from_ref(&push))
    );
    let mut adopted = Stream::of(session);
    adopted.adopted();
    adopted.record(&push);
    assert_eq!(adopted.show(Commands::Adopted), complete(&[push]));
}

#[test]
fn a_file_is_read_only_where_it_is_shown() {
    let properties = r#""name":"n","contentType":"t","content":"AQID""#;
    let upload = super::object(&super::json("UploadArtifact", properties));
    let mut stream = Stream::of(upload.session().unwrap().0);
    stream.record(&upload);
    let entry = &stream.entries[0];
    assert_eq!(Renderer::new(Commands::Adopted).wanted(entry), None);
    let mut renderer = Renderer::new(Commands::All);
    assert_eq!(renderer.wanted(entry), Some(Digest::of(&[1, 2, 3])));
    // It may be gone, or not be fetched.
    let shown = renderer.render(entry, None);
    assert!(shown[0].incomplete);
    let text = shown[0].object.write(Style::Compact).unwrap();
    assert!(text.contains(r#""content":"""#), "{text}");
}
