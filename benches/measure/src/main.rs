//! `compare`: runs ours and the peers in turns, prints the tables, and writes the page.
//! `make compare` builds both programs and calls it.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use annals_measure::driver::{self, Plan, say};
use annals_measure::machine::Machine;
use annals_measure::results::{Results, Settings};
use annals_measure::{disk, page};
use clap::Parser;

/// Compares our log with other stores, in turns.
#[derive(Debug, Parser)]
#[command(name = "compare")]
struct Arguments {
    /// The program with our store
    #[arg(long)]
    ours: PathBuf,
    /// The program with the peers
    #[arg(long)]
    peers: PathBuf,
    /// A folder on a real disk for the stores' data; a temporary one without it
    #[arg(long)]
    data: Option<PathBuf>,
    /// How often the main table is measured, and the others once [default: 3; quick: 1]
    #[arg(long)]
    rounds: Option<usize>,
    /// Seconds of each measurement of appends [default: 3; quick: 0.1]
    #[arg(long)]
    seconds: Option<f64>,
    /// Events of the large logs [default: 1000000; quick: 10000]
    #[arg(long)]
    events: Option<usize>,
    /// Bytes of payloads; the first one is the main table's
    #[arg(long, value_delimiter = ',', default_values_t = [300, 100, 2_000])]
    payloads: Vec<usize>,
    /// Two minutes that prove nothing but that it works
    #[arg(long)]
    quick: bool,
    /// A store or a measurement; can be given several times
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
fn compare(arguments: &Arguments) -> Result<Vec<String>, Box<dyn Error>> {
    driver::check_names(&arguments.only)?;
    // Found out now, and not in some hours.
    let page = match &arguments.page {
        Some(path) => Some((path, fs::read_to_string(path)?)),
        None => None,
    };
    if let Some((_, page)) = &page {
        page::with_measured(page, "")?;
    }
    let temporary = match &arguments.data {
        Some(data) => {
            fs::create_dir_all(data)?;
            tempfile::tempdir_in(data)?
        }
        None => tempfile::tempdir()?,
    };
    let data = temporary.path().to_path_buf();
    if disk::is_in_memory(&data)? {
        let data = data.display();
        return Err(format!("{data} is in memory, where a sync costs nothing: give --data").into());
    }
    let plan = plan(arguments, data);
    let mut results = Results {
        date: chrono::Utc::now().format("%Y-%m-%d %H:%M UTC").to_string(),
        revision: arguments.revision.clone(),
        machine: Machine::of(&plan.data),
        settings: plan.settings.clone(),
        samples: Vec::new(),
        cold: Vec::new(),
        failures: Vec::new(),
    };
    driver::run(&plan, &mut results)?;
    if let Some(path) = &arguments.json {
        fs::write(path, serde_json::to_string_pretty(&results)?)?;
    }
    write!(std::io::stdout(), "{}", page::tables(&results))?;
    if let (Some((path, page)), true) = (page, results.failures.is_empty()) {
        fs::write(path, page::with_measured(&page, &page::measured(&results))?)?;
    }
    Ok(results.failures)
}

fn plan(arguments: &Arguments, data: PathBuf) -> Plan {
    let (rounds, seconds, events) = match arguments.quick {
        true => (1, 0.1, 10_000),
        false => (3, 3.0, 1_000_000),
    };
    Plan {
        settings: Settings {
            rounds: arguments.rounds.unwrap_or(rounds),
            seconds: arguments.seconds.unwrap_or(seconds),
            events: arguments.events.unwrap_or(events),
            payloads: arguments.payloads.clone(),
            quick: arguments.quick,
        },
        only: arguments.only.clone(),
        ours: arguments.ours.clone(),
        peers: arguments.peers.clone(),
        data,
    }
}
