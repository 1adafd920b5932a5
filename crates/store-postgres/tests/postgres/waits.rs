//! Commits that wait for standbys, and whose wait is cut short, by hand or by a restart. Then they are seen by all, and
//! may be gone after a fail-over: nobody is told that they are made.

use std::thread;
use std::time::{Duration, Instant};

use annals_event_log::{
    Append, AppendError, BatchStatus, Blob, Classified, CommitError, EventLog, Position,
    ReadModels, RedactError, SUBSCRIPTIONS,
};
use annals_store_postgres::{AppendFailure, Failure, PostgresLog};
use annals_testkit::invariants;
use annals_testkit::postgres::{Server, Setup};
use futures::executor::block_on;

use crate::support::{batch, bringing, removing, settings};

const PATIENCE: Duration = Duration::from_secs(120);
/// Who waits is counted, or ended.
const WAITS: &str = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'";

/// Has commits wait for a standby that is not there, or not.
fn set_waits(server: &Server, waits: bool) {
    let standbys = if waits { "nobody" } else { "" };
    let set = format!("ALTER SYSTEM SET synchronous_standby_names = '{standbys}'");
    server.sql("postgres", &set).unwrap();
    server.sql("postgres", "SELECT pg_reload_conf()").unwrap();
    await_answer(server, "SHOW synchronous_standby_names", |it| {
        it == standbys
    });
}

/// Ends what waits for standbys, by a function of the server's; there must be something.
fn cut_short(server: &Server, by: &str) {
    await_answer(server, &format!("SELECT count({by}(pid)) {WAITS}"), |it| {
        it != "0"
    });
}

fn await_answer(server: &Server, question: &str, is_right: impl Fn(&str) -> bool) {
    let begun = Instant::now();
    while !is_right(&server.sql("postgres", question).unwrap()) {
        assert!(begun.elapsed() < PATIENCE, "{question}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Whether others see a batch.
fn is_seen(server: &Server, append: &Append) -> bool {
    let batch = append.batch;
    let text = format!("SELECT count(*) FROM annals.batches WHERE batch = '{batch}'");
    server.sql("postgres", &text).unwrap() == "1"
}

#[test]
fn a_commit_whose_wait_for_standbys_is_cut_short_is_not_acknowledged() {
    let Some(server) = Server::or_say_not_run(&Setup::default()) else {
        return;
    };
    // Nothing but a warning says that a wait was cut short: also to a role that asked for none.
    let silent = "ALTER ROLE ALL SET client_min_messages = error";
    server.sql("postgres", silent).unwrap();
    let settings = settings(&server, "postgres", "");
    let log = PostgresLog::create(&settings).unwrap();
    let other = PostgresLog::open(&settings).unwrap();
    for by in ["pg_cancel_backend", "pg_terminate_backend"] {
        set_waits(&server, true);
        let append = batch("a-1", 2);
        thread::scope(|scope| {
            let appending = scope.spawn(|| block_on(log.append(append.clone())));
            // The first wait is that of the commit itself, and the others are those of attempts that find it made.
            for _ in 0..3 {
                cut_short(&server, by);
            }
            assert!(is_seen(&server, &append));
            // Nor does another process say so, to who repeats it or asks for it.
            let repeating = scope.spawn(|| block_on(other.append(append.clone())));
            let asking = scope.spawn(|| block_on(other.batch(append.batch, &append.request)));
            thread::sleep(Duration::from_millis(500));
            let said = (
                appending.is_finished(),
                repeating.is_finished(),
                asking.is_finished(),
            );
            // First, so that all come to an end.
            set_waits(&server, false);
            assert_eq!(said, (false, false, false), "{by}: it is answered");
            let appended = appending.join().unwrap().unwrap();
            assert!(!appended.repeated, "{by}: it is the caller's own");
            assert_eq!(repeating.join().unwrap().unwrap(), appended.again());
            let known = BatchStatus::Known(appended.again());
            assert_eq!(asking.join().unwrap().unwrap(), known);
        });
    }
    invariants::check_all(&log).unwrap();
}

#[test]
fn who_has_no_patience_is_told_that_it_is_not_known() {
    let Some(server) = Server::or_say_not_run(&Setup::default()) else {
        return;
    };
    let settings = settings(&server, "postgres", "&patience=0.001");
    let log = PostgresLog::create(&settings).unwrap();
    set_waits(&server, true);
    let append = batch("a-1", 1);
    let error = thread::scope(|scope| {
        let appending = scope.spawn(|| block_on(log.append(append.clone())));
        // Each attempt, also the last one, which is to settle it.
        while !appending.is_finished() {
            let cancel = format!("SELECT count(pg_cancel_backend(pid)) {WAITS}");
            server.sql("postgres", &cancel).unwrap();
            thread::sleep(Duration::from_millis(10));
        }
        appending.join().unwrap().expect_err("no standby has it")
    });
    let AppendError::Unavailable { source } = &error else {
        panic!("{error}")
    };
    let failed: &AppendFailure = source.downcast_ref().unwrap();
    let is_cut_short = matches!(failed.failure, Failure::CutShort { .. });
    assert!(failed.is_unknown && is_cut_short, "{failed}");
    assert!(is_seen(&server, &append));
    set_waits(&server, false);
    assert!(block_on(log.append(append)).unwrap().repeated);
}

#[test]
fn what_a_server_shows_after_a_restart_and_no_standby_has_is_not_acknowledged() {
    let Some(mut server) = Server::or_say_not_run(&Setup::default()) else {
        return;
    };
    let settings = settings(&server, "postgres", "");
    let log = PostgresLog::create(&settings).unwrap();
    set_waits(&server, true);
    let append = batch("a-1", 2);
    thread::scope(|scope| {
        let appending = scope.spawn(|| block_on(log.append(append.clone())));
        await_answer(&server, &format!("SELECT count(*) {WAITS}"), |it| it != "0");
        server.restart().unwrap();
        assert!(is_seen(&server, &append));
        // Until the next attempt waits as well.
        await_answer(&server, &format!("SELECT count(*) {WAITS}"), |it| it != "0");
        thread::sleep(Duration::from_millis(200));
        let is_answered = appending.is_finished();
        set_waits(&server, false);
        assert!(!is_answered);
        assert!(!appending.join().unwrap().unwrap().repeated);
    });
    invariants::check_all(&log).unwrap();
}

/// All appends of a process wait for it.
#[test]
fn a_redaction_waits_for_standbys_no_longer_than_an_append() {
    let Some(server) = Server::or_say_not_run(&Setup::default()) else {
        return;
    };
    // A piece of work may take five seconds more than a statement.
    let settings = settings(&server, "postgres", "&patience=0.001&statement_timeout=0.2");
    let log = PostgresLog::create(&settings).unwrap();
    let gone = Blob::new(vec![2; 5_000]);
    block_on(log.append(bringing(&gone))).unwrap();
    let redaction = removing(&log, Position(1), &gone);
    set_waits(&server, true);
    let begun = Instant::now();
    let error = block_on(log.redact(redaction.clone())).expect_err("no standby has it");
    let took = begun.elapsed();
    assert!(took < PATIENCE, "{took:?}");
    let RedactError::Append(AppendError::Unavailable { source }) = &error else {
        panic!("{error}")
    };
    let failed: &AppendFailure = source.downcast_ref().unwrap();
    assert!(failed.is_unknown, "{failed}");
    set_waits(&server, false);
    assert!(block_on(log.redact(redaction)).unwrap().repeated);
    invariants::check_all(&log).unwrap();
}

/// The place of a subscriber follows from nothing, so that it is not to be lost either.
#[test]
fn a_subscription_s_place_whose_wait_was_cut_short_is_not_acknowledged() {
    let Some(server) = Server::or_say_not_run(&Setup::default()) else {
        return;
    };
    let log = PostgresLog::create(&settings(&server, "postgres", "")).unwrap();
    block_on(log.append(batch("a-1", 2))).unwrap();
    let before = block_on(log.checkpoint(SUBSCRIPTIONS)).unwrap();
    let place = vec![(b"mailer"[..].into(), Some(b"1"[..].into()))];
    set_waits(&server, true);
    let said = thread::scope(|scope| {
        let committed = log.commit(SUBSCRIPTIONS, before, place, Position(1));
        let committing = scope.spawn(|| block_on(committed));
        cut_short(&server, "pg_cancel_backend");
        let begun = Instant::now();
        while !committing.is_finished() && begun.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(10));
        }
        set_waits(&server, false);
        committing.join().unwrap()
    });
    // It is there by now, which who asks again finds.
    assert!(
        matches!(said, Err(CommitError::Checkpoint { .. })),
        "{said:?}"
    );
}

/// Who answers that something is done already says so of what survives, too.
#[test]
fn what_is_done_already_waits_for_standbys_as_well() {
    let Some(server) = Server::or_say_not_run(&Setup::default()) else {
        return;
    };
    let settings = settings(&server, "postgres", "&patience=0.001");
    let log = PostgresLog::create(&settings).unwrap();
    set_waits(&server, true);
    let append = batch("a-1", 1);
    thread::scope(|scope| {
        let appending = scope.spawn(|| block_on(log.append(append.clone())));
        while !appending.is_finished() {
            let cancel = format!("SELECT count(pg_cancel_backend(pid)) {WAITS}");
            server.sql("postgres", &cancel).unwrap();
            thread::sleep(Duration::from_millis(10));
        }
        appending.join().unwrap().expect_err("no standby has it");
    });
    let other = PostgresLog::open(&settings.with_patience(PATIENCE)).unwrap();
    assert_eq!(other.watermark(), Position(1), "it is seen");
    thread::scope(|scope| {
        let confirming = scope.spawn(|| block_on(other.confirm()));
        await_answer(&server, &format!("SELECT count(*) {WAITS}"), |it| it != "0");
        let is_answered = confirming.is_finished();
        set_waits(&server, false);
        assert!(!is_answered);
        confirming.join().unwrap().unwrap();
    });
}

#[test]
fn who_creates_a_log_is_told_soon_that_no_standby_has_it() {
    let Some(server) = Server::or_say_not_run(&Setup::default()) else {
        return;
    };
    // The schema is there.
    drop(PostgresLog::create(&settings(&server, "postgres", "")).unwrap());
    set_waits(&server, true);
    // A piece of work may take five seconds more than a statement.
    for schema in ["annals", "another"] {
        let more = format!("&patience=0.001&statement_timeout=0.2&schema={schema}");
        let settings = settings(&server, "postgres", &more);
        let begun = Instant::now();
        let error = PostgresLog::create(&settings).unwrap_err();
        let took = begun.elapsed();
        assert!(took < PATIENCE, "{schema}: {took:?}");
        assert!(error.is_retryable(), "{schema}: {error}");
        if schema == "annals" {
            assert_eq!(error.code(), "outcome_unknown", "{error}");
        }
    }
    set_waits(&server, false);
}
