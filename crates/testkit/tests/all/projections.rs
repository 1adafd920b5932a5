//! Projections that are resumable, and two that are not.

use std::cell::RefCell;
use std::collections::BTreeMap;

use annals_event_log::{Append, CommitError, EventLog, Position, Query};
use annals_testkit::generators::appends::Sample;
use annals_testkit::projections::{NotResumable, check_resumable};
use futures::executor::block_on;

const MODEL: &str = "counts";

fn history() -> Vec<Append> {
    let mut sample = Sample::new(3);
    (0..12).map(|_| sample.append("a-1", 2)).collect()
}

fn count(log: &dyn EventLog, rows_first: bool) -> Result<(), CommitError> {
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
    let catch_up = |log: &dyn EventLog| -> Result<(), CommitError> {
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
