//! `compare-postgres`: a log on PostgreSQL, the same log on RocksDB, and the published schemas of message-db
//! and Marten, under the same loads, on a server of its own with real syncs, in turns. `make compare-postgres`
//! calls it. What is measured is in `annals_measure::postgres`.

mod appends;
mod connection;
mod copying;
mod error;
mod logs;
mod marten;
mod message_db;
mod server;
mod target;
mod turns;

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use annals_measure::disk;
use annals_measure::machine::Machine;
use annals_measure::postgres::page::{self, MARKS};
use annals_measure::postgres::results::{LoadSettings, PostgresResults};
use clap::Parser;

use crate::error::CompareError;
use crate::server::MeasuredServer;
use crate::turns::{Plan, say};

/// Compares a log on PostgreSQL with others there, in turns.
#[derive(Debug, Parser)]
#[command(name = "compare-postgres")]
struct Arguments {
    /// A folder on a real disk for all data, which the user postgres can reach; that for temporary files without it
    #[arg(long)]
    data: Option<PathBuf>,
    /// How often everything is measured [default: 3; quick: 1]
    #[arg(long)]
    rounds: Option<usize>,
    /// Seconds of each measurement [default: 5; quick: 0.2]
    #[arg(long)]
    seconds: Option<f64>,
    /// Bytes of a payload
    #[arg(long, default_value_t = 300)]
    payload: usize,
    /// Events of a log that is copied from RocksDB to PostgreSQL, 0 for none [default: 1000000; quick: 10000; with --only: 0]
    #[arg(long)]
    copy: Option<u64>,
    /// A minute that proves nothing but that it works
    #[arg(long)]
    quick: bool,
    /// A store or a load; can be given several times
    #[arg(long)]
    only: Vec<String>,
    /// Writes every number to a file
    #[arg(long)]
    json: Option<PathBuf>,
    /// Writes what was measured into this page
    #[arg(long)]
    page: Option<PathBuf>,
    /// Which source was measured and how it was built, for the page
    #[arg(long, default_value = "not said")]
    revision: String,
}

fn main() -> ExitCode {
    match compare(&Arguments::parse()) {
        Ok(failures) if failures.is_empty() => ExitCode::SUCCESS,
        Ok(failures) => {
            say(&format!("{} measurements failed:", failures.len()));
            failures.iter().for_each(|failure| say(failure));
            ExitCode::FAILURE
        }
        Err(error) => {
            say(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

/// Answers what failed; then no page is written.
fn compare(arguments: &Arguments) -> Result<Vec<String>, CompareError> {
    let plan = Plan::new(settings(arguments), &arguments.only)?;
    // Found out now, and not in a quarter of an hour.
    let page = match &arguments.page {
        Some(path) => Some((path, fs::read_to_string(path)?)),
        None => None,
    };
    if let Some((_, page)) = &page {
        MARKS.with(page, "")?;
    }
    let data = data(arguments)?;
    let server = MeasuredServer::start(&data)?;
    let mut results = PostgresResults {
        date: chrono::Utc::now().format("%Y-%m-%d %H:%M UTC").to_string(),
        revision: arguments.revision.clone(),
        machine: Machine::of(&data),
        server: server.settings()?,
        settings: plan.settings.clone(),
        samples: Vec::new(),
        copy: None,
        failures: Vec::new(),
    };
    turns::run(&plan, &server, &data, &mut results);
    let events = copied_events(arguments);
    if events > 0 {
        say(&format!("a copy of {events} events"));
        match copying::copy(&server, &data, events, plan.settings.payload_bytes) {
            Ok(times) => results.copy = Some(times),
            Err(error) => results.failures.push(format!("the copy: {error}")),
        }
    }
    if let Some(path) = &arguments.json {
        fs::write(path, serde_json::to_string_pretty(&results)?)?;
    }
    write!(std::io::stdout(), "{}", page::summary(&results))?;
    if let (Some((path, text)), true) = (page, results.failures.is_empty()) {
        fs::write(path, MARKS.with(&text, &page::measured(&results))?)?;
    }
    Ok(results.failures)
}

fn settings(arguments: &Arguments) -> LoadSettings {
    let (rounds, warm_up_seconds, seconds) = match arguments.quick {
        true => (1, 0.1, 0.2),
        false => (3, 1.0, 5.0),
    };
    LoadSettings {
        rounds: arguments.rounds.unwrap_or(rounds),
        warm_up_seconds,
        seconds: arguments.seconds.unwrap_or(seconds),
        payload_bytes: arguments.payload,
        quick: arguments.quick,
    }
}

fn copied_events(arguments: &Arguments) -> u64 {
    let usual = match (arguments.only.is_empty(), arguments.quick) {
        (false, _) => 0,
        (true, true) => 10_000,
        (true, false) => 1_000_000,
    };
    arguments.copy.unwrap_or(usual)
}

/// The folder for the data, which is on a disk.
fn data(arguments: &Arguments) -> Result<PathBuf, CompareError> {
    let data = match &arguments.data {
        Some(data) => {
            fs::create_dir_all(data)?;
            data.canonicalize()?
        }
        None => std::env::temp_dir(),
    };
    match disk::is_in_memory(&data)? {
        true => Err(CompareError::InMemory { data }),
        false => Ok(data),
    }
}
