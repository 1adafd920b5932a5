//! What comes while content is looked for is removed, too.

mod beside;
mod many;
mod seals;

use std::sync::Arc;

use annals_domain::intent::CreateIntent;
use annals_domain::{ActorRef, Command};
use annals_event_log::Classified;
use annals_event_log::memory::MemoryLog;
use annals_event_log::{Content, Position, Query};
use futures::executor::block_on;
use regex::bytes::Regex;
use uuid::Uuid;

use super::{RedactReport, RedactRequest, RedactionError, Target};
use crate::{Annals, Request};

const SECRET: &str = "hunter2-and-more";

fn annals() -> Annals {
    Annals::over(Arc::new(MemoryLog::new(Uuid::from_u128(1))))
}

/// Appends an intent with this prompt, on a separate thread: where it is called, another
/// future is being waited for.
fn say(annals: &Annals, prompt: &str) {
    let (annals, prompt) = (annals.clone(), prompt.to_owned());
    let said = std::thread::spawn(move || {
        let command = Command::from(CreateIntent::new(prompt));
        block_on(annals.execute(Request::new(ActorRef::agent("coder"), command))).unwrap();
    });
    said.join().unwrap();
}

fn request(targets: Vec<Target>) -> RedactRequest {
    RedactRequest {
        targets,
        actor: ActorRef::human("ada"),
        reason: "it leaked".to_owned(),
        at: None,
    }
}

fn pattern() -> Vec<Target> {
    vec![Target::Pattern(Regex::new("hunter[0-9]").unwrap())]
}

/// The positions of records that have the secret, in themselves or in a blob.
fn left(annals: &Annals) -> Vec<u64> {
    let log = annals.log();
    let (mut found, mut next) = (Vec::new(), Some(1));
    while let Some(from) = next {
        let page = block_on(log.read(Query::all(Position(from)))).unwrap();
        for record in &page.records {
            let has = |piece: &Content| {
                let bytes = match piece {
                    Content::Inline { bytes, .. } => Some(bytes.clone()),
                    piece => piece.blob().and_then(|it| block_on(log.blob(it)).unwrap()),
                };
                bytes.is_some_and(|b| b.windows(SECRET.len()).any(|w| w == SECRET.as_bytes()))
            };
            if record.content().iter().any(has) {
                found.push(record.position().0);
            }
        }
        next = page.next;
    }
    found
}

/// Redacts while `more` of the secret comes, once each time that the end of what is looked
/// through is reached.
fn redact_during_appends(annals: &Annals, mut more: Vec<String>) -> RedactReport {
    let writing = annals.clone();
    let mut progress = |_| {
        if let Some(prompt) = more.pop() {
            say(&writing, &prompt);
        }
    };
    block_on(annals.contents().redact(&request(pattern()), &mut progress)).unwrap()
}

#[test]
fn what_comes_while_the_log_is_looked_through_is_removed_too() {
    let inline = format!("the password is {SECRET}");
    let blob = format!("{SECRET} ").repeat(400);
    for more in [
        vec![inline.clone()],
        vec![blob.clone()],
        vec![inline.clone(), blob, inline.clone()],
    ] {
        let annals = annals();
        say(&annals, &inline);
        say(&annals, "other");
        let count = more.len();
        let report = redact_during_appends(&annals, more);
        assert_eq!(left(&annals), [0; 0], "{report:?}");
        assert_eq!(report.found.removed.len(), 1 + count);
        assert_eq!(
            (report.redactions as usize, report.unsearched),
            (1 + count, None)
        );
        assert_eq!(report.found.objects.len(), 1 + count);
        let (first, last) = report.recorded.unwrap();
        assert!(first < last && last <= annals.position());
        let again = block_on(annals.contents().redact(&request(pattern()), &mut |_| {})).unwrap();
        assert_eq!((again.recorded, again.redactions), (None, 0));
    }
}

#[test]
fn where_it_comes_without_end_the_rest_is_named() {
    let annals = annals();
    let prompt = format!("the password is {SECRET}");
    say(&annals, &prompt);
    let report = redact_during_appends(&annals, vec![prompt; 100]);
    let (from, to) = report.unsearched.expect("more came");
    let left = left(&annals);
    assert!(!left.is_empty());
    assert!(
        left.iter().all(|at| (from.0..=to.0).contains(at)),
        "{left:?} and {report:?}"
    );
    let (first, _) = report.recorded.unwrap();
    assert!(
        left.iter().all(|at| *at > first.0),
        "what was there before is gone"
    );
    let again = block_on(annals.contents().redact(&request(pattern()), &mut |_| {})).unwrap();
    assert_eq!(again.unsearched, None);
    assert_eq!(super::tests::left(&annals), [0; 0]);
}

/// An agent does not take back what it was told; what agents recorded it may have removed.
#[test]
fn an_agent_removes_nothing_that_a_person_recorded() {
    let annals = annals();
    let prompt = format!("the password is {SECRET}");
    say(&annals, &prompt);
    let by = |actor| RedactRequest {
        actor,
        ..request(pattern())
    };
    let coder = by(ActorRef::agent("coder"));
    let command = Command::from(CreateIntent::new(prompt));
    block_on(annals.execute(Request::new(ActorRef::human("ada"), command))).unwrap();
    let refused = block_on(annals.contents().redact(&coder, &mut |_| {})).unwrap_err();
    assert_eq!(refused.classify().code, "not_permitted");
    assert!(refused.to_string().contains("event 2"), "{refused}");
    assert_eq!(left(&annals), [1, 2], "nothing is removed");
    let its_own = RedactRequest {
        targets: vec![Target::Event(Position(1))],
        ..coder
    };
    block_on(annals.contents().redact(&its_own, &mut |_| {})).unwrap();
    assert_eq!(left(&annals), [2]);
    let ada = by(ActorRef::human("ada"));
    block_on(annals.contents().redact(&ada, &mut |_| {})).unwrap();
    assert_eq!(left(&annals), [0; 0]);
}

/// The second redaction finds a blob in what came during the first; and behind the first,
/// something refers to it again.
#[test]
fn a_blob_that_is_referred_to_again_behind_a_redaction_is_removed_too() {
    let annals = annals();
    say(&annals, &format!("the password is {SECRET}"));
    let blob = format!("{SECRET} ").repeat(400);
    let report = redact_during_appends(&annals, vec![blob.clone(), blob]);
    assert_eq!(left(&annals), [0; 0], "{report:?}");
    assert_eq!(report.found.removed.len(), 3);
    assert_eq!(report.found.blobs.len(), 1);
    assert_eq!((report.redactions, report.unsearched), (2, None));
}

/// It says then how often it was tried, and the same call removes the rest.
#[test]
fn where_a_blob_comes_again_without_end_a_part_is_removed() {
    let annals = annals();
    say(&annals, &format!("the password is {SECRET}"));
    let blob = format!("{SECRET} ").repeat(400);
    let writing = annals.clone();
    let mut progress = |_| say(&writing, &blob);
    let error = block_on(annals.contents().redact(&request(pattern()), &mut progress)).unwrap_err();
    assert!(error.is_retryable(), "{error}");
    let RedactionError::Partly { events, source, .. } = &error else {
        panic!("{error}");
    };
    let is_contended = matches!(**source, RedactionError::Contended { attempts: 8 });
    assert!(is_contended && *events == 1, "{error}");
    // Once for the first redaction, and as often as it was tried again.
    assert_eq!(left(&annals).len(), 9);
    let report = block_on(annals.contents().redact(&request(pattern()), &mut |_| {})).unwrap();
    assert_eq!((report.found.removed.len(), report.unsearched), (9, None));
    assert_eq!(left(&annals), [0; 0]);
}

/// An event is removed; what comes after it is another one.
#[test]
fn without_a_pattern_nothing_more_is_looked_for() {
    let annals = annals();
    let prompt = format!("the password is {SECRET}");
    say(&annals, &prompt);
    let asked = request(vec![Target::Event(Position(1))]);
    let report = block_on(annals.contents().redact(&asked, &mut |_| {})).unwrap();
    assert_eq!((report.redactions, report.unsearched), (1, None));
}

#[test]
fn an_appender_beside_it_loses_nothing_and_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let url = home.path().join("log").display().to_string();
    let annals = block_on(Annals::open(&url)).unwrap();
    let prompt = format!("the password is {SECRET}");
    say(&annals, &prompt);
    let (tell, told) = std::sync::mpsc::channel();
    let writing = annals.clone();
    let writer = std::thread::spawn(move || {
        for n in 0..60 {
            say(&writing, &format!("the password is {SECRET}"));
            if n == 20 {
                tell.send(()).unwrap();
            }
        }
    });
    told.recv().unwrap();
    let report = block_on(annals.contents().redact(&request(pattern()), &mut |_| {})).unwrap();
    let (first, _) = report.recorded.unwrap();
    let before = left(&annals).into_iter().filter(|at| *at < first.0);
    assert_eq!(before.count(), 0, "{report:?}");
    writer.join().unwrap();
    while !left(&annals).is_empty() {
        block_on(annals.contents().redact(&request(pattern()), &mut |_| {})).unwrap();
    }
    let report = annals.rocks().unwrap().verify(&mut |_| {}).unwrap();
    assert!(report.is_sound(), "{:#?}", report.findings);
    block_on(annals.close());
}

/// A log that has lost its blobs.
struct WithoutBlobs;

impl annals_testkit::through::Hook for WithoutBlobs {
    fn blob(&self, _: Option<bytes::Bytes>) -> Option<bytes::Bytes> {
        None
    }
}

#[test]
fn a_blob_that_is_missing_may_have_the_secret_and_is_no_success() {
    let log = Arc::new(MemoryLog::new(Uuid::from_u128(1)));
    let whole = Annals::over(Arc::clone(&log) as _);
    say(&whole, &format!("{SECRET} ").repeat(400));
    let through = annals_testkit::through::Through::new(log, WithoutBlobs);
    let annals = Annals::over(Arc::new(through));
    let redacted = block_on(annals.contents().redact(&request(pattern()), &mut |_| {}));
    let error = redacted.unwrap_err();
    assert_eq!(
        error.class(),
        annals_event_log::ErrorClass::Corrupt,
        "{error}"
    );
    assert!(error.to_string().contains("is missing"), "{error}");
    assert_eq!(left(&whole), [1], "nothing was removed");
}
