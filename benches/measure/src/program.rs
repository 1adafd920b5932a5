//! What the two programs with stores do: one measurement of one store, for which `compare`
//! starts a new process each time.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use crate::measure::measure;
use crate::measurement::Measurement;
use crate::results::MARK;
use crate::store::{Store, StoreError};
use crate::workload::{Layout, Workload};

/// One measurement of one store; `compare` calls this.
#[derive(Debug, Parser)]
#[command(disable_help_subcommand = true)]
pub struct Arguments {
    /// The store's name
    #[arg(long)]
    pub store: String,
    /// The measurement's name
    #[arg(long)]
    pub measurement: Measurement,
    /// Bytes of a payload
    #[arg(long, default_value_t = 300)]
    pub payload: usize,
    /// In which order events go to streams: interleaved, or runs
    #[arg(long, default_value_t = Layout::Interleaved)]
    pub layout: Layout,
    /// Seconds of appends that do not count
    #[arg(long, default_value_t = 0.3)]
    pub warm_up: f64,
    /// Seconds of appends
    #[arg(long, default_value_t = 3.0)]
    pub seconds: f64,
    /// Events of a large log
    #[arg(long, default_value_t = 1_000_000)]
    pub events: usize,
    /// The store's folder
    #[arg(long)]
    pub folder: PathBuf,
}

impl Arguments {
    /// The same as words of a command line, which [`Arguments::parse`] reads again.
    pub fn words(&self) -> Vec<String> {
        let pairs = [
            ("--store", self.store.clone()),
            ("--measurement", self.measurement.to_string()),
            ("--payload", self.payload.to_string()),
            ("--layout", self.layout.to_string()),
            ("--warm-up", self.warm_up.to_string()),
            ("--seconds", self.seconds.to_string()),
            ("--events", self.events.to_string()),
        ];
        let words = pairs
            .into_iter()
            .flat_map(|(name, value)| [name.to_owned(), value]);
        let folder = self.folder.display().to_string();
        words.chain(["--folder".to_owned(), folder]).collect()
    }

    fn workload(&self) -> Result<Workload, String> {
        let seconds = |name: &str, value: f64| {
            Duration::try_from_secs_f64(value).map_err(|error| format!("{name}: {error}"))
        };
        Ok(Workload {
            payload_bytes: self.payload,
            layout: self.layout,
            warm_up: seconds("--warm-up", self.warm_up)?,
            time: seconds("--seconds", self.seconds)?,
            events: self.events,
            folder: self.folder.clone(),
        })
    }
}

/// Opens a store by its name in a folder, which is there.
pub type OpenByName = fn(&str, &Path) -> Result<Box<dyn Store>, StoreError>;

/// The main function of a program whose stores `open` opens by name.
pub fn run(open: OpenByName) -> ExitCode {
    let arguments = Arguments::parse();
    match printed(&arguments, open) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let (store, measurement) = (&arguments.store, arguments.measurement);
            // There is no one to report to when standard error is closed.
            let _ = writeln!(std::io::stderr(), "{store}, {measurement}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn printed(arguments: &Arguments, open: OpenByName) -> Result<(), Box<dyn std::error::Error>> {
    let workload = arguments.workload()?;
    let open = |folder: &Path| open(&arguments.store, folder);
    let lines = measure(arguments.measurement, &open, &workload)?;
    let mut out = std::io::stdout().lock();
    for line in lines {
        writeln!(out, "{MARK}{}", serde_json::to_string(&line)?)?;
    }
    Ok(())
}

/// The error for a name that a program does not have.
///
/// # Errors
/// Always.
pub fn unknown<T>(store: &str) -> Result<T, StoreError> {
    Err(StoreError::failed(format!(
        "this program has no store {store:?}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_what_they_were_made_of() {
        let arguments = Arguments {
            store: "tephra".into(),
            measurement: Measurement::Conditional(64),
            payload: 2_000,
            layout: Layout::Runs,
            warm_up: 0.05,
            seconds: 0.2,
            events: 10_000,
            folder: "/a folder".into(),
        };
        let words = [vec!["program".to_owned()], arguments.words()].concat();
        let read = Arguments::try_parse_from(words).unwrap();
        assert_eq!(format!("{read:?}"), format!("{arguments:?}"));
        assert_eq!(read.workload().unwrap().time, Duration::from_millis(200));
    }

    #[test]
    fn a_time_that_is_none_is_refused() {
        let words = [
            "program",
            "--store",
            "a",
            "--measurement",
            "fill",
            "--folder",
            "f",
        ];
        let mut arguments = Arguments::try_parse_from(words).unwrap();
        assert!(arguments.workload().is_ok());
        arguments.seconds = -1.0;
        assert!(arguments.workload().unwrap_err().starts_with("--seconds"));
    }
}
