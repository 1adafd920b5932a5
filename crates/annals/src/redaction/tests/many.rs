//! More events than one batch may have lose content: in several redactions, which can be resumed.

use annals_domain::intent::CreateIntent;
use annals_domain::redaction::RemovedPieces;
use annals_domain::{ActorRef, Command};
use annals_domain::{StreamKind, StreamRef};
use annals_event_log::{Digest, limits};

use super::*;
use crate::redaction::plan::{Lossy, Plan};

/// Streams with the secret, each with an event that says so afterwards.
const STREAMS: usize = limits::BATCH_EVENTS + 500;

/// A log with the secret in many streams, in a blob that all thousandth share, and in nothing
/// else.
fn annals_with(streams: usize) -> Annals {
    let annals = annals();
    let shared = format!("{SECRET} ").repeat(400);
    let prompt = |n: usize| match n % 1_000 {
        0 => shared.clone(),
        _ => format!("password {n}: {SECRET}"),
    };
    let prompts: Vec<String> = (0..streams).map(prompt).collect();
    for prompts in prompts.chunks(1_000) {
        let command = |prompt: &String| CreateIntent::new(prompt.clone());
        let requests = prompts.iter().map(|prompt| {
            let command = Command::from(command(prompt));
            Request::new(ActorRef::agent("coder"), command)
        });
        block_on(annals.execute_batch(None, requests.collect())).unwrap();
    }
    annals
}

#[test]
fn content_of_more_events_than_a_batch_may_have_is_removed() {
    let annals = annals_with(STREAMS);
    let report = block_on(annals.contents().redact(&request(pattern()), &mut |_| {})).unwrap();
    assert!(report.redactions > 1, "{}", report.redactions);
    assert_eq!(report.found.removed.len(), STREAMS);
    assert_eq!(report.found.objects.len(), STREAMS);
    assert_eq!((report.found.blobs.len(), report.unsearched), (1, None));
    assert_eq!(left(&annals), [0; 0]);
    let (first, last) = report.recorded.unwrap();
    assert_eq!(last.0 - first.0 + 1, STREAMS as u64);
    assert_eq!(block_on(annals.log().stats()).unwrap().blobs, 0);
}

/// Where it is interrupted between two redactions, the search must find the rest: so a blob stays
/// as long as something refers to it.
#[test]
fn a_blob_goes_with_the_last_of_its_references() {
    let digests = [1, 2, 3].map(|n| Digest([n; 32]));
    let mut plan = Plan {
        blobs: digests.into(),
        ..Plan::default()
    };
    let count = 5_000;
    for number in 1..=count {
        let stream = StreamRef {
            kind: StreamKind::Intent,
            id: Uuid::from_u128(number.into()),
        };
        let blobs = match number {
            1 => vec![digests[0], digests[2]],
            number if number == count => vec![digests[1], digests[2]],
            _ => Vec::new(),
        };
        let pieces = vec![0];
        let lossy = Lossy {
            removed: RemovedPieces {
                position: number,
                pieces,
            },
            objects: Vec::new(),
            blobs,
        };
        plan.events.entry(stream).or_default().push(lossy);
    }
    let steps = plan.steps(&request(pattern())).unwrap();
    let blobs: Vec<_> = steps.iter().map(|it| it.redaction.blobs.clone()).collect();
    let none = vec![Vec::new(); steps.len() - 2];
    let expected = [
        vec![vec![digests[0]]],
        none,
        vec![vec![digests[1], digests[2]]],
    ]
    .concat();
    assert_eq!(blobs, expected);
    let removed = steps.iter().map(|it| it.redaction.removed.len());
    assert_eq!(removed.sum::<usize>(), count as usize);
    for step in &steps {
        step.redaction.check().unwrap();
        assert!(step.redaction.append.events.len() <= limits::BATCH_EVENTS);
    }
}
