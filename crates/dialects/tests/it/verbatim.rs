//! A log that is exported and imported is the same log.

mod copied;
mod refused;

use std::io::{BufRead, Cursor};
use std::sync::Arc;

use annals::Annals;
use annals::event_log::memory::MemoryLog;
use annals::event_log::{
    Actor, Append, Blob, Content, Digest, NewEvent, Position, Query, Record, tree,
};
use annals_dialects::Progress;
use annals_dialects::verbatim::{self, VerbatimImportError, VerbatimImported, VerbatimSource};
use bytes::Bytes;
use chrono::DateTime;
use futures::executor::block_on;
use uuid::Uuid;

/// How the lines of records and of content begin.
const RECORD: &str = "{\"record\"";
const BLOB: &str = "{\"blob\"";

fn empty() -> Annals {
    Annals::over(Arc::new(MemoryLog::new(Uuid::from_u128(7))))
}

fn event(stream: &str, content: Vec<Content>) -> NewEvent {
    NewEvent {
        stream: stream.parse().unwrap(),
        id: Uuid::new_v4(),
        event_type: "test.happened".into(),
        schema_version: 1,
        occurred_at: DateTime::from_timestamp(1_700_000_000, 0).unwrap(),
        actor: Actor {
            kind: "agent".into(),
            id: "tester".into(),
            display_name: None,
            auth_context: None,
        },
        correlation: None,
        causation: None,
        structure: Bytes::from_static(b"structure"),
        content,
    }
}

fn append(annals: &Annals, events: Vec<NewEvent>, blobs: Vec<Blob>) {
    let batch = Uuid::new_v4();
    let request = Bytes::copy_from_slice(batch.as_bytes());
    let append = Append {
        batch,
        request,
        events,
        expectations: Vec::new(),
        blobs,
    };
    block_on(annals.log().append(append)).unwrap();
}

/// Appends so many batches of 1 to 4 events, with content inside of them and in blobs: six
/// different blobs in all.
fn grow(annals: &Annals, batches: u8) {
    for n in 0..batches {
        let blob = Blob::new(vec![n % 6; 5_000]);
        let (salt, digest, size) = ([n; 16], blob.digest(), 5_000);
        let content = vec![
            Content::Inline {
                salt,
                bytes: format!("text {n}").into(),
            },
            match n % 2 {
                0 => Content::Blob { salt, digest, size },
                _ => Content::Attachment { salt, digest, size },
            },
        ];
        let mut events = vec![event("shared-1", Vec::new()); usize::from(n % 4)];
        events.push(event(&format!("own-{}", n % 3), content));
        append(annals, events, vec![blob]);
    }
}

fn exported(annals: &Annals, from: u64) -> String {
    let mut out = Vec::new();
    let mut seen = Progress { done: 0, total: 0 };
    let mut progress = |it| seen = it;
    let exported = verbatim::export(annals, Position(from), &mut out, &mut progress);
    let exported = block_on(exported).unwrap();
    assert_eq!(exported.to, annals.position());
    assert_eq!(
        (seen.done, seen.total),
        (exported.records, exported.records)
    );
    String::from_utf8(out).unwrap()
}

fn import(annals: &Annals, text: &str) -> Result<VerbatimImported, VerbatimImportError> {
    let reader: Box<dyn BufRead + Send> = Box::new(Cursor::new(text.as_bytes().to_vec()));
    let source = VerbatimSource::open("log.jsonl", reader)?;
    block_on(verbatim::import(annals, source, &mut |_| {}))
}

fn all(annals: &Annals) -> Vec<Record> {
    let query = Query::all(Position(1)).limit(10_000);
    block_on(annals.log().read(query)).unwrap().records
}

fn root(annals: &Annals) -> Digest {
    block_on(tree::root(annals.log().as_ref(), annals.position().0)).unwrap()
}

fn assert_same(from: &Annals, to: &Annals) {
    assert!(all(from) == all(to));
    assert_eq!(root(from), root(to));
    for record in all(from) {
        for digest in record.content().iter().filter_map(Content::blob) {
            let of = |annals: &Annals| block_on(annals.contents().get(digest)).unwrap().unwrap();
            assert_eq!(of(from), of(to));
        }
    }
}
