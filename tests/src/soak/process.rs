//! A process under test, and what it says.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::job::{Job, Task};
use super::said::Said;

/// How often it is looked whether a process has ended.
const BETWEEN_LOOKS: Duration = Duration::from_micros(500);
/// What is kept of standard error.
const MOST_ERRORS: u64 = 4_000;

/// Where the programs under test are.
#[derive(Debug, Clone)]
pub struct Programs {
    /// `soak-worker`.
    pub worker: PathBuf,
    /// `annals`.
    pub annals: PathBuf,
    /// The seeded bug that they have, if they are to have one.
    pub mutant: Option<String>,
}

/// A program that the soak needs is not where it was looked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// It is unknown where this program is.
    #[error("it is unknown in which folder this program is: {0}")]
    Here(#[from] std::io::Error),
    /// It is in none of the folders.
    #[error(
        "there is no program {name} in {folder} or the folder above it: `cargo test --workspace --no-run` builds it, \
         and {variable} names one elsewhere", folder = .folder.display()
    )]
    Missing {
        /// The program's name.
        name: &'static str,
        /// This program's folder.
        folder: PathBuf,
        /// The variable that says where it is.
        variable: &'static str,
    },
    /// It is not where the environment says.
    #[error("{variable} names {path}, where no program is: name one, or leave it out", path = .path.display())]
    NotThere {
        /// The variable.
        variable: &'static str,
        /// What it says.
        path: PathBuf,
    },
}

/// The variable that switches a seeded bug on, in programs that were built with them.
pub const MUTANT: &str = "ANNALS_MUTANT";

impl Programs {
    /// Those in this program's folder or the one above it, or where the environment says:
    /// `ANNALS_BIN` and `ANNALS_SOAK_WORKER`.
    ///
    /// # Errors
    /// [`ProgramError`]: without one of them much would not be tried, and nothing would say so.
    pub fn find() -> Result<Programs, ProgramError> {
        let here = std::env::current_exe()?;
        Ok(Programs {
            worker: find(&here, "soak-worker", "ANNALS_SOAK_WORKER")?,
            annals: find(&here, "annals", "ANNALS_BIN")?,
            mutant: None,
        })
    }
}

/// A program by its name, or where a variable says.
fn find(here: &Path, name: &'static str, variable: &'static str) -> Result<PathBuf, ProgramError> {
    if let Some(path) = std::env::var_os(variable) {
        let path = PathBuf::from(path);
        return match path.is_file() {
            true => Ok(path),
            false => Err(ProgramError::NotThere { variable, path }),
        };
    }
    // A test's program is one folder below the others.
    let mut nearby = here.ancestors().skip(1).take(2).map(|at| at.join(name));
    let missing = || ProgramError::Missing {
        name,
        folder: here.parent().unwrap_or(here).to_owned(),
        variable,
    };
    nearby.find(|at| at.is_file()).ok_or_else(missing)
}

/// A process that others may end, too: what is done within an operation of its own.
pub type Victim = Arc<Mutex<Child>>;

/// A process that runs.
pub struct Process {
    child: Victim,
    lines: Option<JoinHandle<Vec<String>>>,
    errors: Option<JoinHandle<String>>,
    began: Instant,
}

/// A process that has ended.
pub struct Ended {
    /// Its lines.
    pub lines: Vec<String>,
    /// How it ended.
    pub status: ExitStatus,
    /// The beginning of its standard error.
    pub errors: String,
    /// Whether it had to be ended because it took too long.
    pub hung: bool,
}

impl Process {
    /// Starts a worker. The one that checks has no seeded bug: it is the witness's.
    pub fn worker(programs: &Programs, job: &Job) -> Process {
        let input = serde_json::to_string(job).expect("a job as JSON");
        let mut command = Command::new(&programs.worker);
        if let (Some(mutant), Task::Work(_)) = (&programs.mutant, &job.task) {
            command.env(MUTANT, mutant);
        }
        Process::start(command, input)
    }

    /// Starts the program on a log.
    pub fn annals(programs: &Programs, log: &Path, arguments: &[String], input: String) -> Process {
        let mut command = Command::new(&programs.annals);
        command.arg("--log").arg(log).args(arguments);
        if let Some(mutant) = &programs.mutant {
            command.env(MUTANT, mutant);
        }
        Process::start(command, input)
    }

    fn start(mut command: Command, input: String) -> Process {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("a process");
        let began = Instant::now();
        if let Some(mut to) = child.stdin.take() {
            // It may be killed before it has read all; then it needs no more.
            std::thread::spawn(move || to.write_all(input.as_bytes()));
        }
        let lines = child
            .stdout
            .take()
            .map(|out| std::thread::spawn(move || lines(out)));
        let errors = child.stderr.take().map(|mut from| {
            std::thread::spawn(move || {
                let mut text = String::new();
                let mut first = Vec::new();
                let _ = from.by_ref().take(MOST_ERRORS).read_to_end(&mut first);
                text.push_str(&String::from_utf8_lossy(&first));
                // What is left is read, so that the process is not held up.
                let _ = std::io::copy(&mut from, &mut std::io::sink());
                text
            })
        });
        Process {
            child: Arc::new(Mutex::new(child)),
            lines,
            errors,
            began,
        }
    }

    /// What ends it from elsewhere.
    pub fn victim(&self) -> Victim {
        Arc::clone(&self.child)
    }

    // Held for moments only: who ends it within an operation holds that operation up.
    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// SIGKILL.
    pub fn kill(&mut self) {
        // It may have ended already.
        let _ = self.child().kill();
    }

    /// Waits until it has ended, or until so long after its start, or until something
    /// else has happened; whether it has ended.
    pub fn wait_until(&mut self, after: Option<Duration>, happened: impl Fn() -> bool) -> bool {
        loop {
            if matches!(self.child().try_wait(), Ok(Some(_))) {
                return true;
            }
            if after.is_some_and(|after| self.began.elapsed() >= after) || happened() {
                return false;
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
    }

    /// Waits for its end; one that takes longer than `most` is killed.
    pub fn end(mut self, most: Duration) -> Ended {
        let hung = !self.wait_until(Some(most), || false);
        let mut threads = String::new();
        if hung {
            threads = where_it_hangs(self.child().id());
            self.kill();
        }
        self.wait_until(None, || false);
        let status = self.child().wait().expect("the end of a process");
        let lines = self
            .lines
            .take()
            .map(|thread| thread.join().unwrap_or_default());
        let errors = self
            .errors
            .take()
            .map(|thread| thread.join().unwrap_or_default());
        Ended {
            lines: lines.unwrap_or_default(),
            status,
            errors: errors.unwrap_or_default() + &threads,
            hung,
        }
    }
}

/// What the kernel says of each thread of a process, and of what it waits for.
fn where_it_hangs(process: u32) -> String {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task"));
    let mut text = String::new();
    for task in tasks.into_iter().flatten().flatten() {
        let read = |name: &str| std::fs::read_to_string(task.path().join(name));
        let of = |name: &str| read(name).unwrap_or_default().trim().replace('\n', " ");
        let (name, waits, call) = (of("comm"), of("wchan"), of("syscall"));
        text.push_str(&format!("\n{name}: {waits}: {call}: {}", of("stack")));
    }
    text
}

/// The whole lines of an output: one that was cut off was not said.
fn lines(out: impl Read) -> Vec<String> {
    let mut lines = Vec::new();
    let mut out = BufReader::new(out);
    let mut line = Vec::new();
    while out.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        if line.pop() == Some(b'\n') {
            lines.push(String::from_utf8_lossy(&line).into_owned());
        }
        line.clear();
    }
    lines
}

impl Ended {
    /// What a worker said.
    pub fn said(&self) -> impl Iterator<Item = Said> + '_ {
        self.lines
            .iter()
            .filter_map(|line| serde_json::from_str(line).ok())
    }

    /// Whether it ended as a program does that was not killed: with a status, and not by a
    /// panic.
    pub fn in_order(&self) -> bool {
        self.status.code().is_some_and(|code| code != 101)
    }
}
