//! What else a log takes while primaries are lost, besides appends: redactions, content in an object store, places of
//! subscribers, and the lead of a read model.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use annals_event_log::{
    Appended, Blob, Blobs, Classified, CommitError, Digest, EventLog, ReadModels, SUBSCRIPTIONS,
};
use annals_store_postgres::{PostgresLog, Settings};
use annals_testkit::invariants;
use futures::executor::block_on;

use crate::servers::{cluster, impatient, new_log};
use crate::support::{DATABASE, batches, bringing, removing};

/// How often a primary is lost.
const FAILOVERS: u64 = 2;
/// How long anything may be away.
const PATIENCE: Duration = Duration::from_secs(60);
const LASTS: Duration = Duration::from_secs(2);

/// The same for all parts.
struct Story {
    ends: AtomicBool,
    /// What each part has done.
    done: [AtomicU64; 3],
}

impl Story {
    fn goes_on(&self) -> bool {
        !self.ends.load(Ordering::Acquire)
    }

    fn count(&self, part: usize) -> u64 {
        self.done[part].load(Ordering::Acquire)
    }

    fn did(&self, part: usize) {
        self.done[part].fetch_add(1, Ordering::AcqRel);
    }

    /// Waits until each part has done something more.
    fn await_progress(&self) {
        let before = [0, 1, 2].map(|part| self.count(part));
        let begun = Instant::now();
        while (0..3).any(|part| self.count(part) == before[part]) {
            let now = [0, 1, 2].map(|part| self.count(part));
            assert!(begun.elapsed() < PATIENCE, "{before:?}, and then {now:?}");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Repeats what may be repeated.
#[track_caller]
fn until_answered<T, E: Classified + std::fmt::Display>(
    mut ask: impl FnMut() -> Result<T, E>,
) -> T {
    let begun = Instant::now();
    loop {
        match ask() {
            Ok(answer) => return answer,
            Err(error) => assert!(error.is_retryable(), "{error}"),
        }
        assert!(begun.elapsed() < PATIENCE, "nothing was answered");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Content that is there, and content that was redacted, with what the caller was told of it.
type Content = Vec<(Digest, Appended, bool)>;

/// Appends content, and removes every other one.
fn append_and_redact(log: &PostgresLog, story: &Story) -> Content {
    let mut told = Content::new();
    for n in 0_u64.. {
        if !story.goes_on() {
            break;
        }
        let blob = Blob::new([&[7; 5_000][..], &n.to_le_bytes()].concat());
        let append = bringing(&blob);
        let appended = until_answered(|| block_on(log.append(append.clone())));
        story.did(0);
        let is_removed = n % 2 == 0;
        if is_removed {
            let redaction = removing(log, appended.first, &blob);
            until_answered(|| block_on(log.redact(redaction.clone())));
            story.did(1);
        }
        told.push((blob.digest(), appended, is_removed));
    }
    told
}

/// Moves a subscriber's place on; what was acknowledged is never behind.
fn subscribe(log: &PostgresLog, story: &Story) -> u64 {
    let key = b"mailer";
    let place = || {
        let found = until_answered(|| block_on(log.get(SUBSCRIPTIONS, key)));
        found.map_or(0, |value| u64::from_be_bytes(value[..].try_into().unwrap()))
    };
    let mut acknowledged = 0;
    while story.goes_on() {
        let begin = until_answered(|| block_on(log.checkpoint(SUBSCRIPTIONS)));
        let found = place();
        assert!(
            found >= acknowledged,
            "{acknowledged} was acknowledged, and there is {found}"
        );
        let next = found + 1;
        let row = vec![(key[..].into(), Some(next.to_be_bytes().to_vec().into()))];
        match block_on(log.commit(SUBSCRIPTIONS, begin, row, begin.position)) {
            Ok(()) => {
                acknowledged = next;
                story.did(2);
            }
            // The answer to one that was made was lost.
            Err(CommitError::Checkpoint { .. }) => {}
            // A redaction came between.
            Err(CommitError::Epoch { .. }) => {}
            Err(error) => assert!(error.is_retryable(), "{error}"),
        }
        thread::sleep(Duration::from_millis(3));
    }
    let found = place();
    assert!(found >= acknowledged);
    acknowledged
}

/// Waits until one of two processes leads.
fn await_leader(logs: [&PostgresLog; 2]) {
    let begun = Instant::now();
    while !logs.iter().any(|log| block_on(log.leads("catalogue.1"))) {
        assert!(begun.elapsed() < PATIENCE, "nobody leads");
        thread::sleep(Duration::from_millis(50));
    }
}

fn in_folder(url: &str, folder: &Path) -> Settings {
    let settings = new_log(url, &format!("&blobs={}", folder.display()));
    settings.with_leading_lasts(LASTS)
}

#[test]
fn redactions_content_places_and_leads_come_through_lost_primaries() {
    let Some(mut cluster) = cluster(&Default::default()) else {
        return;
    };
    let home = tempfile::tempdir().unwrap();
    let settings = in_folder(&cluster.url(DATABASE), home.path());
    let open = |settings: &Settings| PostgresLog::open(settings).unwrap();
    let (content, places, other) = (
        open(&settings),
        open(&impatient(&settings)),
        open(&settings),
    );
    let story = Story {
        ends: AtomicBool::new(false),
        done: Default::default(),
    };
    let (told, acknowledged) = thread::scope(|scope| {
        let redacting = scope.spawn(|| append_and_redact(&content, &story));
        let subscribing = scope.spawn(|| subscribe(&places, &story));
        story.await_progress();
        for _ in 0..FAILOVERS {
            await_leader([&content, &other]);
            let old = cluster.primary();
            cluster.kill(old).unwrap();
            cluster.fail_over().unwrap();
            story.await_progress();
            await_leader([&content, &other]);
            cluster.rejoin(old).unwrap();
            cluster.await_standbys(2).unwrap();
        }
        story.ends.store(true, Ordering::Release);
        (redacting.join().unwrap(), subscribing.join().unwrap())
    });
    let removed = told.iter().filter(|(.., is_removed)| *is_removed).count();
    println!(
        "{FAILOVERS} primaries lost: {} batches with content, {removed} of them redacted, {acknowledged} places",
        told.len()
    );
    check(&settings, &told, removed);
}

fn check(settings: &Settings, told: &Content, removed: usize) {
    let log = PostgresLog::open(settings).unwrap();
    for (digest, appended, is_removed) in told {
        let found = block_on(log.blob(*digest)).unwrap();
        assert_eq!(found.is_none(), *is_removed, "{appended:?}");
    }
    // Each batch once, whatever was repeated.
    assert_eq!(batches(&log).len(), told.len() + removed);
    invariants::check_all(&log).unwrap();
}
