//! What searching a log takes: making the index, its size, and questions, in one process.
//!
//! `ANNALS_LOG` names the log, of imported recordings for example. Without it, a small one is made of prompts.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark that fails may stop, and it prints its results"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use annals::domain::ActorRef;
use annals::domain::intent::CreateIntent;
use annals::{Annals, OpenOptions, Request};
use annals_benches::{median, ms};
use annals_search::{Count, LogSearch, Query, SearchRequest, Using};
use futures::executor::block_on;

/// How often each question is asked.
const TIMES: usize = 21;

/// Frequent and rare words, several, phrases, beginnings, exclusions, nothing.
const QUESTIONS: [&str; 12] = [
    "error",
    "the",
    "file not found",
    "\"exit status 1\"",
    "test -fail",
    "parse*",
    "cli/main.go",
    "TestPagination",
    "the file and the test of the function",
    "\"the of\"",
    "import json",
    "zzzzqqqq",
];

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = match std::env::var_os("ANNALS_LOG") {
        Some(log) => PathBuf::from(log),
        None => small(folder.path()),
    };
    let annals = OpenOptions::new()
        .read_only(true)
        .open(log.to_str().expect("a path"))
        .expect("the log");
    let search = LogSearch::new(&annals, Some(&log));
    let events = annals.position().0;
    let began = Instant::now();
    let lag = block_on(search.rebuild(&mut |_| {})).expect("an index");
    assert!(lag.is_none(), "{lag:?}");
    let took = began.elapsed();
    let (index, all) = (bytes(&log.join("search")), bytes(&log));
    #[allow(clippy::cast_precision_loss, reason = "a share")]
    let share = index as f64 * 100.0 / (all - index).max(1) as f64;
    println!("{events} events, a log of {} bytes", all - index);
    println!(
        "index: {:.1} s, {index} bytes, {share:.1} % of the log",
        took.as_secs_f64()
    );
    let began = Instant::now();
    assert!(
        block_on(LogSearch::new(&annals, Some(&log)).catch_up(&mut |_| {}))
            .expect("an index")
            .is_none()
    );
    println!("opened and checked in {:.1} ms", ms(began.elapsed()));
    for question in QUESTIONS {
        ask(&search, question);
    }
}

fn ask(search: &LogSearch, question: &str) {
    let request = SearchRequest::new(Query::parse(question).expect("a question"));
    let mut times: Vec<Duration> = Vec::new();
    let mut count = Count::Exactly(0);
    for _ in 0..TIMES {
        let began = Instant::now();
        let answer = block_on(search.ask(&request, Using::Index, &mut |_| {})).expect("an answer");
        times.push(began.elapsed());
        assert!(answer.is_of_index);
        count = answer.count;
    }
    println!(
        "{question:40} {:>10} {count:?}",
        format!("{:.1} ms", ms(median(times)))
    );
}

/// A log of some prompts.
fn small(folder: &Path) -> PathBuf {
    let log = folder.join("log");
    let annals = block_on(Annals::open(log.to_str().expect("a path"))).expect("a log");
    for number in 0..200 {
        let commands = (0..50).map(|n| {
            let prompt = format!("The test {n} of file cli/main.go fails with error {number}");
            Request::new(ActorRef::human("ada"), CreateIntent::new(prompt))
        });
        block_on(annals.execute_batch(None, commands.collect())).expect("a batch");
    }
    block_on(annals.close());
    log
}

fn bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => bytes(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}
