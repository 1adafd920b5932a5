//! Rows that were folded before content was removed do not bring it back.

use annals_domain::redaction::{Redacted, RemovedPieces};
use annals_domain::{Emitted, Pieces, StreamKind};
use annals_event_log::{EventLog, PiecesOf, Position, Redaction};
use futures::FutureExt;
use futures::executor::block_on;

use super::super::{Catalogue, CatalogueError};
use super::{MODEL, anew, create, dump, up_to_date};
use crate::testing::{Story, id, stream};

const SECRET: &str = "it was the butler";
/// The model that the first rebuild makes.
const NEXT: &str = "catalogue.5.2";

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
fn assert_gone(log: &dyn EventLog) {
    for model in [MODEL, NEXT, "catalogue.5", "catalogue.5.3"] {
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
    assert_eq!(dump(&story.log, &model), anew(&story.log));
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
fn a_rebuild_beside_a_redaction_leaves_no_such_rows() {
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
    let error = rebuilt.expect_err("content went meanwhile");
    assert!(error.is_retryable(), "{error}");
    assert!(matches!(error, CatalogueError::Commit(_)), "{error}");
    assert_gone(log);
    assert_settled(&catalogue, &story);
    block_on(catalogue.rebuild(&story.log, &mut |_| {})).expect("the next time");
    assert_settled(&catalogue, &story);
}
