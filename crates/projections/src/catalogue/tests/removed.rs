//! Rows that were folded before content was removed do not bring it back.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use annals_domain::redaction::{Redacted, RemovedPieces};
use annals_domain::{Emitted, Pieces, StreamKind};
use annals_event_log::Classified;
use annals_event_log::{EventLog, PiecesOf, Position, Redaction, Store};
use futures::FutureExt;
use futures::channel::oneshot;
use futures::executor::block_on;

use super::super::{Catalogue, CatalogueError};
use super::{MODEL, Watched, copy, create, dump, find, rebuilt_rows, row, up_to_date};
use crate::Text;
use crate::testing::{Story, id, stream};

const SECRET: &str = "it was the butler";
/// The model that the first rebuild makes.
const NEXT: &str = "catalogue.13.2";

/// A log with the secret in its first event, and others behind it.
fn told() -> Story {
    let mut story = Story::new();
    story.push(stream(StreamKind::Intent, id(1)), |pieces| {
        annals_domain::intent::Event::from(annals_domain::intent::Submitted {
            refines: None,
            prompt: pieces.text(SECRET),
        })
    });
    create(&mut story, 100..110);
    story
}

/// What takes all content out of the first event.
fn redaction(story: &mut Story) -> Redaction {
    let count = story.records()[0].content().len();
    let pieces: Vec<u16> = (0..u16::try_from(count).unwrap()).collect();
    let mut reason = Pieces::new();
    let event = Redacted {
        reason: reason.text("why"),
        removed: vec![RemovedPieces {
            position: 1,
            pieces: pieces.clone(),
        }],
        objects: Vec::new(),
    };
    let said = Emitted {
        stream: stream(StreamKind::Intent, id(1)),
        event: event.in_stream(StreamKind::Intent),
        pieces: reason,
    };
    Redaction {
        append: story.batch(&[&said]),
        removed: vec![PiecesOf {
            position: Position(1),
            pieces,
        }],
        blobs: Vec::new(),
        seen: story.log.watermark(),
    }
}

/// No row of any model has the secret.
fn assert_gone(log: &dyn Store) {
    for model in [MODEL, NEXT, "catalogue.13", "catalogue.13.3"] {
        for (key, row) in dump(log, model) {
            let has = |bytes: &[u8]| bytes.windows(SECRET.len()).any(|w| w == SECRET.as_bytes());
            assert!(!has(&key) && !has(&row), "{model} has it in {key:?}");
        }
    }
}

/// The rows are those of the log, and have not the secret.
fn assert_settled(catalogue: &Catalogue, story: &Story) {
    block_on(catalogue.catch_up(&story.log)).unwrap();
    block_on(catalogue.flush(&story.log)).unwrap();
    assert_gone(&story.log);
    let model = block_on(catalogue.model(&story.log)).unwrap();
    assert_eq!(dump(&story.log, &model), rebuilt_rows(&story.log));
}

/// The work goes on in the log, also where its caller no longer waits for it.
#[test]
fn a_redaction_that_is_dropped_midway_leaves_nothing_folded() {
    let mut story = told();
    let catalogue = up_to_date(&story.log);
    let redaction = redaction(&mut story);
    let work = async {
        story.log.redact(redaction).await.unwrap();
        futures::future::pending::<()>().await;
    };
    assert!(catalogue.forgetting(work).now_or_never().is_none());
    block_on(catalogue.flush(&story.log)).unwrap();
    assert_gone(&story.log);
    assert_settled(&catalogue, &story);
}

/// Another handle in the same process knows nothing of a redaction before it reads on.
#[test]
fn a_catalogue_that_did_not_hear_of_it_writes_no_such_rows() {
    let mut story = told();
    let (one, two) = (up_to_date(&story.log), up_to_date(&story.log));
    block_on(one.flush(&story.log)).unwrap();
    create(&mut story, [200]);
    block_on(one.catch_up(&story.log)).unwrap();
    let redaction = redaction(&mut story);
    block_on(story.log.redact(redaction)).unwrap();
    for catalogue in [two, one] {
        block_on(catalogue.flush(&story.log)).unwrap();
        assert_gone(&story.log);
        assert_settled(&catalogue, &story);
    }
}

/// Rows of a generation that is being made were folded from what was read before.
#[test]
fn a_rebuild_during_a_redaction_leaves_no_such_rows() {
    let mut story = told();
    let catalogue = up_to_date(&story.log);
    block_on(catalogue.flush(&story.log)).unwrap();
    let mut redaction = Some(redaction(&mut story));
    let log = &story.log;
    let mut progress = |_| {
        if let Some(redaction) = redaction.take() {
            log.redact(redaction).now_or_never().unwrap().unwrap();
        }
    };
    let rebuilt = block_on(catalogue.rebuild(log, &mut progress));
    let rebuilt = rebuilt.expect("it begins again");
    assert_eq!(rebuilt.events, log.watermark().0);
    assert_settled(&catalogue, &story);
}

#[test]
fn where_content_goes_all_the_time_a_rebuild_gives_up() {
    let mut story = told();
    let catalogue = up_to_date(&story.log);
    block_on(catalogue.flush(&story.log)).unwrap();
    let mut redactions: Vec<Redaction> = (0..100).map(|_| redaction(&mut story)).collect();
    let log = &story.log;
    let mut progress = |_| {
        let redaction = redactions.pop().unwrap();
        log.redact(redaction).now_or_never().unwrap().unwrap();
    };
    let error = block_on(catalogue.rebuild(log, &mut progress)).expect_err("content went");
    assert!(matches!(error, CatalogueError::Commit(_)), "{error}");
    assert!(error.is_retryable(), "{error}");
    assert_settled(&catalogue, &story);
    block_on(catalogue.rebuild(&story.log, &mut |_| {})).expect("the next time");
    assert_settled(&catalogue, &story);
}

/// Of a large redaction, the event that says it comes with the first step, and content is there
/// until the last. Its caller gets the answer then, and others do not wait for that.
#[test]
fn others_are_answered_while_a_redaction_is_under_way() {
    let mut story = told();
    let catalogue = up_to_date(&story.log);
    let said = redaction(&mut story).append;
    let steps = redaction(&mut story);
    let (end, ended) = oneshot::channel();
    let log = &story.log;
    let work = async {
        log.append(said).await.unwrap();
        ended.await.unwrap();
        log.redact(steps).await.unwrap();
    };
    let mut work = pin!(catalogue.forgetting(work));
    assert!(work.as_mut().now_or_never().is_none());
    let caught_up = catalogue.catch_up(log).now_or_never();
    let reached = caught_up.expect("it waits for the redaction").unwrap();
    assert_eq!(reached, log.watermark());
    assert!(find(&catalogue, log, 105).is_some());
    block_on(catalogue.flush(log)).unwrap();
    block_on(catalogue.rebuild(log, &mut |_| {})).unwrap();
    end.send(()).unwrap();
    block_on(work);
    assert_eq!(row(&catalogue, log, id(1)).title, Some(Text::Removed));
    assert_settled(&catalogue, &story);
}

/// What was folded is forgotten behind the back of those who have it folded already.
#[test]
fn what_was_answered_before_it_was_forgotten_is_answered_afterwards() {
    let mut story = told();
    let catalogue = up_to_date(&story.log);
    let redaction = redaction(&mut story);
    block_on(catalogue.forgetting(story.log.redact(redaction))).unwrap();
    assert!(find(&catalogue, &story.log, 105).is_some());
    let title = row(&catalogue, &story.log, id(1)).title;
    assert_eq!(title, Some(Text::Removed));
    assert_settled(&catalogue, &story);
}

/// What exists when a redaction comes.
#[derive(Debug, Clone, Copy)]
struct Beside {
    /// A catalogue that has rows, or only what it has in memory.
    written: bool,
    /// One that hears of it, or that has to find it out.
    heard: bool,
}

/// Lets a redaction say so before one call to the log, and its content go before another,
/// while rows are folded, written, read and rebuilt; how many calls there were.
fn interleave(setup: Beside, said: usize, gone: usize) -> usize {
    let mut story = told();
    let catalogue = up_to_date(&story.log);
    if setup.written {
        block_on(catalogue.flush(&story.log)).unwrap();
    }
    create(&mut story, [200]);
    let first = Mutex::new(Some(redaction(&mut story).append));
    let last = Mutex::new(Some(redaction(&mut story)));
    let log = &story.log;
    let is_gone = AtomicBool::new(false);
    let on_call = |call| {
        let at = format!("{setup:?}, said before {said}, gone before {gone}, at {call}");
        if call == said {
            let append = first.lock().unwrap().take().unwrap();
            log.append(append).now_or_never().unwrap().unwrap();
        }
        if call == gone {
            let redaction = last.lock().unwrap().take().unwrap();
            let work = log.redact(redaction);
            let done = match setup.heard {
                true => catalogue.forgetting(work).now_or_never(),
                false => work.now_or_never(),
            };
            done.expect("it waits for what others do").unwrap();
            is_gone.store(true, Ordering::Relaxed);
        }
        // One that asks now, unless it has to wait.
        let row = catalogue.row(log, id(1)).now_or_never();
        if let Some(row) = row {
            let row = row.unwrap().unwrap_or_else(|| panic!("not there: {at}"));
            let removed = row.title == Some(Text::Removed);
            assert!(removed || !is_gone.load(Ordering::Relaxed), "there: {at}");
        }
    };
    let watched = Watched::with(log, &on_call);
    block_on(catalogue.catch_up(&watched)).unwrap();
    block_on(catalogue.flush(&watched)).unwrap();
    assert!(find(&catalogue, &watched, 200).is_some());
    let at_end = block_on(catalogue.row(&watched, id(1))).unwrap().unwrap();
    let is_removed = at_end.title == Some(Text::Removed);
    assert!(is_removed || !is_gone.load(Ordering::Relaxed));
    block_on(catalogue.rebuild(&watched, &mut |_| {})).unwrap();
    let calls = watched.calls.load(Ordering::Relaxed);
    if gone <= calls {
        assert_settled(&catalogue, &story);
    }
    calls
}

#[test]
fn wherever_a_redaction_comes_nothing_is_missed_and_nothing_comes_back() {
    let cases = [(false, false), (false, true), (true, false), (true, true)];
    for (written, heard) in cases {
        let setup = Beside { written, heard };
        let most = interleave(setup, usize::MAX, usize::MAX);
        assert!(most > 20, "{most}");
        for gone in 1_usize.. {
            let mut calls = 0;
            for said in BTreeSet::from([1, gone.div_ceil(2), gone]) {
                calls = interleave(setup, said, gone);
            }
            if calls < gone {
                break;
            }
        }
    }
}

/// Rows that were folded from what was there before are not compared with those that are there now.
#[test]
fn rows_are_not_compared_across_a_redaction() {
    let mut story = told();
    let catalogue = up_to_date(&story.log);
    block_on(catalogue.flush(&story.log)).unwrap();
    let before = copy(&story.log);
    let mut redaction = Some(redaction(&mut story));
    let log = &story.log;
    let mut progress = |_| {
        if let Some(redaction) = redaction.take() {
            log.redact(redaction).now_or_never().unwrap().unwrap();
            let other = Catalogue::new();
            other.catch_up(log).now_or_never().unwrap().unwrap();
            other.flush(log).now_or_never().unwrap().unwrap();
        }
    };
    let none = crate::Going::default();
    let error = block_on(catalogue.verify(log, &before, &none, &mut progress));
    let error = error.expect_err("content went meanwhile");
    assert!(error.is_retryable(), "{error}");
    let report = block_on(catalogue.verify(log, &copy(log), &none, &mut |_| {})).unwrap();
    assert!(report.is_sound(), "{:?}", report.findings);
}
