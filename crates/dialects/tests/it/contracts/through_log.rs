//! Objects recorded in a log and shown from it.

use annals::Annals;
use annals_dialects::contracts::{Commands, Object, Rendered, Renderer, record};
use annals_domain::session::{Adopted, CommandBody, Event};
use annals_domain::{
    ActorRef, AnyEvent, Dialect, Emitted, Pieces, SessionId, StreamKind, StreamRef, Timestamp,
};
use annals_event_log::{Append, Expectation, Expected, Position, Query};
use annals_wire::{Envelope, encode};
use futures::executor::block_on;
use uuid::Uuid;

use super::golden::objects;
use super::{SESSION, json, object};

fn append(annals: &Annals, number: u128, id: Uuid, event: AnyEvent, pieces: Pieces) {
    let stream = StreamRef {
        kind: StreamKind::Session,
        id: SESSION.parse().unwrap(),
    };
    let emitted = Emitted {
        stream,
        event,
        pieces,
    };
    let envelope = Envelope {
        event_id: id,
        occurred_at: Timestamp::EPOCH,
        actor: ActorRef::agent("coder"),
        correlation: None,
        causation: None,
    };
    let encoded = encode(&emitted, &envelope, &mut || number.to_be_bytes()).unwrap();
    let append = Append {
        batch: Uuid::from_u128(number),
        request: Vec::new().into(),
        expectations: vec![Expectation {
            stream: encoded.event.stream.clone(),
            expected: Expected::Any,
        }],
        events: vec![encoded.event],
        blobs: encoded.blobs,
    };
    block_on(annals.log().append(append)).unwrap();
}

fn show(annals: &Annals) -> Vec<Rendered> {
    let mut renderer = Renderer::new(Commands::Adopted);
    let mut shown = Vec::new();
    let mut next = Some(1);
    while let Some(from) = next {
        let page = block_on(annals.log().read(Query::all(Position(from)))).unwrap();
        for record in &page.records {
            let entry = block_on(annals.contents().entry(record)).unwrap();
            let file = renderer
                .wanted(&entry)
                .and_then(|digest| block_on(annals.log().blob(digest)).unwrap());
            shown.extend(renderer.render(&entry, file.as_deref()));
        }
        next = page.next;
    }
    shown.extend(renderer.finish());
    shown
}

/// Every kind, texts and a file that are stored by themselves, and an object of
/// an unknown kind.
fn story() -> Vec<Object> {
    let mut story = objects();
    let long = "x".repeat(10_000);
    let patch = format!(r#""repo":{{"name":"n","path":"p"}},"patchContent":"{long}""#);
    story.push(object(&json("ApplyPatch", &patch)));
    let properties = r#""name":"n","contentType":"t","content":"""#;
    let mut upload = object(&json("UploadArtifact", properties));
    if let Object::Command(command) = &mut upload
        && let CommandBody::UploadArtifact(body) = &mut command.body
    {
        body.content.0 = (0..100_000_u32).map(|n| (n % 251) as u8).collect();
    }
    story.push(upload);
    story.push(object(r#"{"kind": "Moved", "n": 1.50}"#));
    story
}

#[test]
fn what_is_in_a_log_comes_out_as_it_went_in() {
    let annals = block_on(Annals::open("memory:")).unwrap();
    let adopted = Event::from(Adopted {
        dialect: Dialect::Contracts,
        config: None,
    });
    let nil = Uuid::nil();
    append(&annals, 1, nil, AnyEvent::Session(adopted), Pieces::new());
    let story = story();
    assert!(story.len() > 25, "{}", story.len());
    let session = SessionId(SESSION.parse().unwrap());
    for (object, number) in story.iter().zip(2..) {
        assert!(object.session().is_none_or(|of| of == session));
        for (event, pieces) in record(object).unwrap() {
            let id = object.id().unwrap_or_default();
            append(&annals, number, id, event, pieces);
        }
    }
    let shown: Vec<Object> = show(&annals).into_iter().map(|one| one.object).collect();
    assert_eq!(shown, story);
}
