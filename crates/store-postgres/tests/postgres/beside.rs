//! Processes beside each other on one log: expectations hold among all of them, a batch that several send is stored once, a
//! log that several make is made once, and content comes from one to the other.

use std::collections::{BTreeMap, BTreeSet};

use annals_event_log::{
    Append, AppendError, Appended, Blob, Blobs, Content, Digest, EventLog, Expectation, Expected,
    StreamName, Version,
};
use annals_store_postgres::{PostgresLog, Settings};
use annals_testkit::invariants;
use futures::executor::block_on;
use uuid::Uuid;

use crate::process::{Process, hear, part, say, together, wait_for_others};
use crate::support::{DATABASE, all, batch, database, server, url};

const PROCESSES: usize = 6;
const ROUNDS: u64 = 30;

/// A new log that processes are to open.
fn new_log() -> Option<(String, PostgresLog)> {
    let url = url(server()?, DATABASE, "&connections=1");
    let log = PostgresLog::create(&Settings::from_url(&url).unwrap()).unwrap();
    Some((url, log))
}

/// One event for a stream, if another one is at this version.
fn expecting(stream: &str, other: &str, version: Version) -> Append {
    let mut append = batch(stream, 1);
    append.expectations = vec![Expectation {
        stream: other.parse().unwrap(),
        expected: Expected::Exactly(version),
    }];
    append
}

/// Whether an append was made, or else was refused for what it expected.
fn is_made(answer: Result<Appended, AppendError>, version: Version) -> bool {
    match answer {
        Ok(appended) => !appended.repeated,
        Err(AppendError::Conflict {
            expected, actual, ..
        }) => {
            assert_eq!(expected, Expected::Exactly(version));
            assert!(actual > version, "{actual} is what was expected");
            false
        }
        Err(other) => panic!("{other}"),
    }
}

/// Not a test by itself: a process that wants each version of a stream for itself.
#[test]
fn child_races() {
    let Some((settings, _)) = part() else {
        return;
    };
    let log = PostgresLog::open(&settings).unwrap();
    let stream: StreamName = "race-1".parse().unwrap();
    wait_for_others();
    loop {
        let version = block_on(log.head(&stream)).unwrap();
        if version.0 >= ROUNDS {
            return;
        }
        let append = expecting("race-1", "race-1", version);
        match is_made(block_on(log.append(append)), version) {
            true => say(version.0 + 1),
            false => say("lost"),
        }
    }
}

#[test]
fn each_version_of_a_stream_is_won_by_one_process() {
    let Some((url, log)) = new_log() else { return };
    let said: Vec<String> = together("beside::child_races", &url, PROCESSES)
        .into_iter()
        .flat_map(Process::rest)
        .collect();
    let mut won: Vec<u64> = said.iter().filter_map(|it| it.parse().ok()).collect();
    won.sort_unstable();
    let lost = said.len() - won.len();
    println!("{} won, {lost} lost", won.len());
    assert!(won.iter().copied().eq(1..=ROUNDS), "{won:?}");
    assert!(lost > 0, "no two were there at once");
    assert_eq!(all(&log).len() as u64, ROUNDS);
    invariants::check_all(&log).unwrap();
}

/// Not a test by itself: a process that takes one of two places in each round, if the other one is free.
#[test]
fn child_takes_places() {
    let Some((settings, number)) = part() else {
        return;
    };
    let log = PostgresLog::open(&settings).unwrap();
    wait_for_others();
    for round in 0..ROUNDS {
        let places = [format!("left-{round}"), format!("right-{round}")];
        let (own, other) = (&places[number % 2], &places[1 - number % 2]);
        let append = expecting(own, other, Version::NONE);
        is_made(block_on(log.append(append)), Version::NONE);
    }
}

/// What is expected of a stream that is only read holds up to the commit, too: of two that each expect the other one's
/// stream not to be there, one is refused.
#[test]
fn two_processes_that_exclude_each_other_are_never_both_let_in() {
    let Some((url, log)) = new_log() else { return };
    for process in together("beside::child_takes_places", &url, PROCESSES) {
        assert_eq!(process.rest(), Vec::<String>::new());
    }
    let mut taken: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for record in all(&log) {
        let (place, round) = record.stream().split_once('-').unwrap();
        let places = taken.entry(round.to_owned()).or_default();
        places.insert(place.to_owned());
    }
    assert_eq!(taken.len() as u64, ROUNDS, "one of them is let in");
    for (round, places) in taken {
        assert_eq!(places.len(), 1, "{places:?} in round {round}");
    }
}

/// A batch that all processes send.
fn known(log: &PostgresLog, n: u64) -> Append {
    let mut append = batch("known-1", 1 + n as usize % 3);
    append.batch = Uuid::from_u128(log.log_id().as_u128() ^ u128::from(n + 1));
    append.request = format!("request {n}").into();
    append
}

/// Not a test by itself: a process that sends what all others send, and says what it was answered.
#[test]
fn child_repeats() {
    let Some((settings, _)) = part() else {
        return;
    };
    let log = PostgresLog::open(&settings).unwrap();
    wait_for_others();
    for n in 0..ROUNDS {
        let Appended {
            first,
            last,
            repeated,
        } = block_on(log.append(known(&log, n))).unwrap();
        say(format_args!("{n} {first} {last} {repeated}"));
        let mut other = known(&log, n);
        other.request = "another request".into();
        let refused = block_on(log.append(other));
        assert!(
            matches!(refused, Err(AppendError::IdempotencyMismatch { .. })),
            "{refused:?}"
        );
    }
}

#[test]
fn a_batch_that_all_processes_send_is_stored_once() {
    let Some((url, log)) = new_log() else { return };
    let mut answers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in together("beside::child_repeats", &url, PROCESSES)
        .into_iter()
        .flat_map(Process::rest)
    {
        let (place, repeated) = line.rsplit_once(' ').unwrap();
        let place = answers.entry(place.to_owned()).or_default();
        place.push(repeated.to_owned());
    }
    // The same place for all, and one that has put it there.
    assert_eq!(answers.len() as u64, ROUNDS, "{answers:?}");
    for (place, repeated) in answers {
        assert_eq!(repeated.len(), PROCESSES, "{place}");
        let made = repeated.iter().filter(|it| *it == "false");
        assert_eq!(made.count(), 1, "{place}");
    }
    let events: u64 = (0..ROUNDS).map(|n| 1 + n % 3).sum();
    assert_eq!(all(&log).len() as u64, events);
    invariants::check_all(&log).unwrap();
}

/// Not a test by itself: a process that makes the log, where no other one has, and appends to it.
#[test]
fn child_makes_the_log() {
    let Some((settings, _)) = part() else {
        return;
    };
    wait_for_others();
    let log = PostgresLog::open_or_create(&settings).unwrap();
    block_on(log.append(batch("a-1", 1))).unwrap();
    say(log.log_id());
    block_on(log.close());
}

#[test]
fn processes_that_start_at_once_make_one_log() {
    let Some(server) = server() else { return };
    let database = database(server);
    let url = url(server, &database, "&connections=1");
    let ids: BTreeSet<String> = together("beside::child_makes_the_log", &url, PROCESSES)
        .into_iter()
        .flat_map(Process::rest)
        .collect();
    let log = PostgresLog::open(&Settings::from_url(&url).unwrap()).unwrap();
    assert_eq!(ids, BTreeSet::from([log.log_id().to_string()]));
    assert_eq!(all(&log).len(), PROCESSES);
    let once = "SELECT count(*) > 0 AND count(*) = count(DISTINCT version) FROM annals.migrations";
    assert_eq!(server.sql(&database, once).unwrap(), "t");
}

/// An append that brings content of 20 MiB.
fn bringing(byte: u8) -> (Append, Digest) {
    let blob = Blob::new(vec![byte; 20 * 1024 * 1024]);
    let mut append = batch("blob-1", 1);
    append.events[0].content = vec![Content::Blob {
        salt: [1; 16],
        digest: blob.digest(),
        size: blob.bytes().len() as u64,
    }];
    append.blobs = vec![blob.clone()];
    (append, blob.digest())
}

/// The digest of the content that the log has under a digest.
fn found(log: &PostgresLog, digest: Digest) -> Digest {
    let bytes = block_on(log.blob(digest)).unwrap().expect("the content");
    Digest::of(&bytes)
}

/// Not a test by itself: a process that reads the content which the log's first record names, and brings its own.
#[test]
fn child_reads_content() {
    let Some((settings, _)) = part() else {
        return;
    };
    let log = PostgresLog::open(&settings).unwrap();
    say("open");
    assert_eq!(hear(), "read");
    let digest = all(&log)[0].content()[0].blob().unwrap();
    assert_eq!(found(&log, digest), digest);
    let (append, digest) = bringing(2);
    block_on(log.append(append)).unwrap();
    say(digest);
}

#[test]
fn large_content_goes_from_one_process_to_the_other() {
    let Some((url, log)) = new_log() else { return };
    let mut process = Process::start("beside::child_reads_content", &url, 0);
    assert_eq!(process.hear(), "open");
    let (append, _) = bringing(1);
    block_on(log.append(append)).unwrap();
    process.tell("read");
    let said = process.rest();
    let digest = all(&log)[1].content()[0].blob().unwrap();
    assert_eq!(said, [digest.to_string()]);
    assert_eq!(found(&log, digest), digest);
}
