//! Projections that are resumable, and some that are not, each in its own way.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use annals_event_log::Classified;
use annals_event_log::{
    Append, CommitError, Content, Epoch, ModelCheckpoint, Page, Position, Query, Record, Rows,
    Store,
};
use annals_testkit::generators::appends::Sample;
use annals_testkit::generators::objects;
use annals_testkit::projections::{NotResumable, check_resumable};
use futures::executor::block_on;

const MODEL: &str = "counts";

fn history() -> Vec<Append> {
    let mut sample = Sample::new(3);
    (0..12).map(|_| sample.append("a-1", 2)).collect()
}

fn count(log: &dyn Store, rows_first: bool) -> Result<(), CommitError> {
    block_on(async {
        loop {
            let checkpoint = log.checkpoint(MODEL).await?;
            let page = log
                .read(Query::all(checkpoint.position.next()).limit(5))
                .await?;
            let Some(last) = page.records.last() else {
                return Ok(());
            };
            let before = log.get(MODEL, b"all").await?.map_or(0, |row| row[0]);
            let now = before + u8::try_from(page.records.len()).unwrap();
            let rows = vec![("all".into(), Some(vec![now].into()))];
            if rows_first {
                log.commit(MODEL, checkpoint, rows, checkpoint.position)
                    .await?;
                log.commit(MODEL, checkpoint, Vec::new(), last.position())
                    .await?;
            } else {
                log.commit(MODEL, checkpoint, rows, last.position()).await?;
            }
        }
    })
}

#[test]
fn rows_and_checkpoint_together_are_resumable() {
    let resumed = check_resumable(MODEL, &history(), |log| count(log, false)).unwrap();
    assert!(resumed.kills > 30, "{resumed:?}");
    assert_eq!(resumed.rows, 1);
}

#[test]
fn rows_before_the_checkpoint_count_twice() {
    let error = check_resumable(MODEL, &history(), |log| count(log, true)).unwrap_err();
    assert!(matches!(error, NotResumable::Differs { .. }), "{error}");
}

#[test]
fn what_only_a_process_knows_is_lost_with_it() {
    // Counts in memory; a new process begins with nothing, as this does at position 0.
    let counted: RefCell<BTreeMap<Position, u8>> = RefCell::default();
    let catch_up = |log: &dyn Store| -> Result<(), CommitError> {
        counted.borrow_mut().clear();
        let checkpoint = block_on(log.checkpoint(MODEL))?;
        let page = block_on(log.read(Query::all(checkpoint.position.next())))?;
        for record in &page.records {
            counted.borrow_mut().insert(record.position(), 1);
            let sum = counted.borrow().values().sum::<u8>();
            let rows = vec![("all".into(), Some(vec![sum].into()))];
            let before = checkpoint.at(Position(record.position().0 - 1));
            block_on(log.commit(MODEL, before, rows, record.position()))?;
        }
        Ok(())
    };
    let error = check_resumable(MODEL, &history(), catch_up).unwrap_err();
    assert!(matches!(error, NotResumable::Differs { .. }), "{error}");
}

#[test]
fn one_that_stops_before_the_end_is_named() {
    let error = check_resumable(MODEL, &history(), |_| Ok::<(), CommitError>(())).unwrap_err();
    assert!(matches!(error, NotResumable::Behind { .. }), "{error}");
}

/// A row for each record: its content, or that it is gone.
fn row(record: &Record) -> (bytes::Bytes, Option<bytes::Bytes>) {
    let mut text = format!("{} at {}: ", record.event_type(), record.recorded_at());
    for piece in record.content() {
        match piece {
            Content::Inline { bytes, .. } => text.push_str(&format!("{bytes:?} ")),
            Content::Removed { .. } => text.push_str("removed "),
            other => text.push_str(&format!("{:?} ", other.blob())),
        }
    }
    (record.position().to_string().into(), Some(text.into()))
}

/// The next page as rows, and up to where it goes.
fn fold(page: &Page) -> Option<(Rows, Position)> {
    let last = page.records.last()?.position();
    Some((page.records.iter().map(row).collect(), last))
}

async fn next_page(log: &dyn Store, checkpoint: ModelCheckpoint) -> Result<Page, CommitError> {
    let query = Query::all(checkpoint.position.next()).limit(5);
    Ok(log.read(query).await?)
}

/// Commits with the checkpoint that it read before the page. With `again` it asks for the
/// checkpoint a second time, right before the commit.
fn contents(log: &dyn Store, again: bool) -> Result<(), CommitError> {
    block_on(async {
        loop {
            let mut checkpoint = log.checkpoint(MODEL).await?;
            let page = next_page(log, checkpoint).await?;
            let Some((rows, last)) = fold(&page) else {
                return Ok(());
            };
            if again {
                checkpoint = log.checkpoint(MODEL).await?;
            }
            log.commit(MODEL, checkpoint, rows, last).await?;
        }
    })
}

#[test]
fn content_is_read_again_after_it_was_removed() {
    let resumed = check_resumable(MODEL, &history(), |log| contents(log, false)).unwrap();
    assert_eq!(resumed.rows, 24);
    // Each of the 5 pages takes 3 calls, the end 2; before the first page nothing was read.
    assert_eq!((resumed.kills, resumed.redactions), (34, 16));
    let objects = objects::sample(5, 30).appends();
    let resumed = check_resumable(MODEL, &objects, |log| contents(log, false)).unwrap();
    assert!(resumed.redactions > 5, "{resumed:?}");
}

#[test]
fn a_history_without_content_has_nothing_to_remove() {
    let mut history = history();
    for event in history.iter_mut().flat_map(|append| &mut append.events) {
        event.content.clear();
        event.actor.display_name = None;
    }
    let resumed = check_resumable(MODEL, &history, |log| contents(log, false)).unwrap();
    assert_eq!((resumed.kills, resumed.redactions), (34, 0));
}

#[test]
fn a_checkpoint_that_is_asked_for_again_brings_removed_content_back() {
    let error = check_resumable(MODEL, &history(), |log| contents(log, true)).unwrap_err();
    let NotResumable::Differs { when, found, .. } = &error else {
        panic!("{error}");
    };
    assert!(when.contains("removed before call 2"), "{error}");
    assert!(!found.contains("removed"), "{error}");
}

/// Begins again where a commit is refused. With `keep` it keeps the pages that it read.
fn persistent(log: &dyn Store, keep: bool) -> Result<(), CommitError> {
    let mut pages: BTreeMap<Position, Page> = BTreeMap::new();
    block_on(async {
        loop {
            let checkpoint = log.checkpoint(MODEL).await?;
            let page = match pages.get(&checkpoint.position).filter(|_| keep) {
                Some(page) => page.clone(),
                None => next_page(log, checkpoint).await?,
            };
            let Some((rows, last)) = fold(&page) else {
                return Ok(());
            };
            pages.insert(checkpoint.position, page);
            match log.commit(MODEL, checkpoint, rows, last).await {
                Err(CommitError::Epoch { .. }) => {}
                committed => committed?,
            }
        }
    })
}

#[test]
fn pages_that_are_kept_bring_removed_content_back() {
    check_resumable(MODEL, &history(), |log| persistent(log, false)).unwrap();
    let error = check_resumable(MODEL, &history(), |log| persistent(log, true)).unwrap_err();
    let NotResumable::Differs { when, found, .. } = &error else {
        panic!("{error}");
    };
    assert!(
        when.contains("content that it had read was removed"),
        "{error}"
    );
    assert!(!found.contains("removed"), "{error}");
}

#[test]
fn a_commit_that_is_repeated_as_it_was_never_ends() {
    let catch_up = |log: &dyn Store| -> Result<(), CommitError> {
        block_on(async {
            loop {
                let checkpoint = log.checkpoint(MODEL).await?;
                let Some((rows, last)) = fold(&next_page(log, checkpoint).await?) else {
                    return Ok(());
                };
                loop {
                    let commit = log.commit(MODEL, checkpoint, rows.clone(), last).await;
                    match commit {
                        Err(error) if error.is_retryable() => {}
                        committed => break committed?,
                    }
                }
            }
        })
    };
    let error = check_resumable(MODEL, &history(), catch_up).unwrap_err();
    assert!(matches!(error, NotResumable::Endless { .. }), "{error}");
}

#[test]
fn one_that_tries_again_what_a_retry_helps_comes_to_its_end() {
    let catch_up = |log: &dyn Store| {
        loop {
            match contents(log, false) {
                Err(error) if error.is_retryable() => {}
                caught_up => return caught_up,
            }
        }
    };
    check_resumable(MODEL, &history(), catch_up).unwrap();
}

#[test]
fn one_that_goes_on_calling_a_closed_log_is_named() {
    let catch_up = |log: &dyn Store| -> Result<(), CommitError> {
        while contents(log, false).is_err() {}
        Ok(())
    };
    let checked = AssertUnwindSafe(|| check_resumable(MODEL, &history(), catch_up));
    let panic = catch_unwind(checked).expect_err("it never returns");
    let message = panic.downcast_ref::<String>().expect("a message");
    assert!(message.contains("it returns on `Closed`"), "{message}");
}

#[test]
fn a_blob_goes_with_the_last_piece_that_refers_to_it() {
    let mut sample = Sample::new(8);
    let mut history = history();
    // The second of two blobs is in an event of the first page, too.
    for number in [2, 9] {
        let (blob, piece) = sample.blob();
        if number == 9 {
            history[0].events[0].content.push(piece.clone());
            history[0].blobs.push(blob.clone());
        }
        history[number].events[1].content.push(piece);
        history[number].blobs.push(blob);
    }
    let left: RefCell<BTreeSet<u64>> = RefCell::default();
    let catch_up = |log: &dyn Store| {
        let caught_up = contents(log, false);
        let checkpoint = block_on(log.checkpoint(MODEL));
        if checkpoint.is_ok_and(|checkpoint| checkpoint.epoch > Epoch::NONE) {
            let stats = block_on(log.stats()).unwrap();
            left.borrow_mut().insert(stats.blobs);
            // No record refers to a blob that is not there.
            annals_testkit::invariants::check_all(log).unwrap();
        }
        caught_up
    };
    check_resumable(MODEL, &history, catch_up).unwrap();
    assert_eq!(left.into_inner(), BTreeSet::from([0, 1, 2]));
}
