//! Connections that the server ends, at any moment: what was acknowledged is there, and nothing is there twice.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use annals_event_log::{AppendError, Appended, Classified, EventLog};
use annals_store_postgres::{PostgresLog, Settings};
use annals_testkit::invariants;
use futures::executor::block_on;
use uuid::Uuid;

use crate::support::{DATABASE, all, batch, server, settings};

const LASTS: Duration = Duration::from_secs(6);

/// Tells the one who kills that the writers are done, also by a panic: a failed test must end.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Opens the log, also where the connection for that is killed.
fn open(settings: &Settings) -> PostgresLog {
    for _ in 0..100 {
        match PostgresLog::open(settings) {
            Ok(log) => return log,
            Err(error) => assert!(error.is_retryable(), "{error}"),
        }
    }
    panic!("the log cannot be opened");
}

/// Appends until time is over, each batch until it is acknowledged; how often it had to be repeated.
fn write(settings: &Settings, stream: &str, answers: &Mutex<HashMap<Uuid, Appended>>) -> u64 {
    let log = open(settings);
    let (ends, mut repeats) = (Instant::now() + LASTS, 0);
    while Instant::now() < ends {
        let append = batch(stream, 3);
        let mut tries = 1;
        let appended = loop {
            match block_on(log.append(append.clone())) {
                Ok(appended) => break appended,
                Err(error @ AppendError::Unavailable { .. }) => {
                    assert!(error.is_retryable(), "{error}");
                    tries += 1;
                }
                Err(other) => panic!("{other}"),
            }
        };
        // Who asked once has appended it, however often that took a connection.
        assert!(tries > 1 || !appended.repeated, "{appended:?}");
        repeats += tries - 1;
        answers.lock().unwrap().insert(append.batch, appended);
    }
    repeats
}

#[test]
fn batches_are_there_once_whatever_becomes_of_their_connections() {
    let Some(server) = server() else { return };
    let name = format!("killed_{}", Uuid::new_v4().simple());
    let more = format!("&connections=1&application_name={name}");
    let patient = settings(server, DATABASE, &more);
    // Callers of these are told what the others never see.
    let impatient = patient.clone().with_patience(Duration::from_millis(1));
    let log = PostgresLog::create(&patient).unwrap();
    let answers: Mutex<HashMap<Uuid, Appended>> = Mutex::default();
    let (done, mut killed) = (AtomicBool::new(false), 0);
    let repeats: u64 = thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .flat_map(|n| [(n, &patient), (n, &impatient)])
            .map(|(n, settings)| {
                let answers = &answers;
                scope.spawn(move || write(settings, &format!("s-{n}"), answers))
            })
            .collect();
        let killer = scope.spawn(|| {
            let (mut killed, mut rounds) = (0_u64, 0_u64);
            while !done.load(Ordering::Acquire) {
                // One in three, another third each time, while they do what they do.
                let text = format!(
                    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                        WHERE application_name = '{name}' AND pid % 3 = {}",
                    rounds % 3
                );
                killed += server.sql(DATABASE, &text).unwrap().parse::<u64>().unwrap();
                rounds += 1;
                thread::sleep(Duration::from_millis(60));
            }
            killed
        });
        let done = Done(&done);
        let repeats = writers
            .into_iter()
            .map(|writer| writer.join().unwrap())
            .sum();
        drop(done);
        killed = killer.join().unwrap();
        repeats
    });
    let answers = answers.into_inner().unwrap();
    println!(
        "{} batches, {killed} connections killed, {repeats} repeats by callers",
        answers.len()
    );
    assert!(killed > 20 && repeats > 0, "too little happened");
    let mut stored: HashMap<Uuid, Vec<u64>> = HashMap::new();
    for record in all(&log) {
        stored
            .entry(record.batch_id())
            .or_default()
            .push(record.position().0);
    }
    assert_eq!(
        stored.len(),
        answers.len(),
        "each batch was repeated until it was acknowledged"
    );
    for (id, appended) in answers {
        let expected: Vec<u64> = (appended.first.0..=appended.last.0).collect();
        assert_eq!(stored.get(&id), Some(&expected), "{id}");
        assert_eq!(expected.len(), 3);
    }
    invariants::check_all(&log).unwrap();
}
