//! Real processes on one log: this test program, run once more for one test of its own, which is a process's part where
//! the environment names a log, and does nothing else.

use std::fmt::Display;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use annals_store_postgres::Settings;
use rustix::process::{Pid, Signal, kill_process};

/// Has the URL of the log, which no other test sees.
const LOG: &str = "ANNALS_POSTGRES_TEST_LOG";
/// Has the number of the process.
const NUMBER: &str = "ANNALS_POSTGRES_TEST_NUMBER";
/// How long a process may say nothing: a test must end.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a process was started with; `None` where this is no process that a test has started.
pub(crate) fn part() -> Option<(Settings, usize)> {
    let url = std::env::var(LOG).ok()?;
    let number = std::env::var(NUMBER).unwrap().parse().unwrap();
    Some((Settings::from_url(&url).unwrap(), number))
}

/// Says a line to the test that has started this process.
pub(crate) fn say(line: impl Display) {
    // The test harness has begun a line of its own. Where the test is gone this panics, and the process ends.
    println!("\n> {line}");
}

/// Waits for a line of the test that has started this process.
pub(crate) fn hear() -> String {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

/// Waits until all processes that were started together are up.
pub(crate) fn wait_for_others() {
    say("ready");
    assert_eq!(hear(), "begin");
}

/// Starts so many processes, numbered from 0, which begin at the same time.
pub(crate) fn together(test: &str, url: &str, count: usize) -> Vec<Process> {
    let started = (0..count).map(|number| Process::start(test, url, number));
    let mut processes: Vec<Process> = started.collect();
    for process in &processes {
        assert_eq!(process.hear(), "ready");
    }
    for process in &mut processes {
        process.tell("begin");
    }
    processes
}

/// A process that a test has started. It ends with this.
pub(crate) struct Process {
    child: Child,
    said: Receiver<String>,
}

impl Process {
    /// Runs one test of this program as a process on a log.
    pub(crate) fn start(test: &str, url: &str, number: usize) -> Process {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--nocapture", "--test-threads=1"])
            .env(LOG, url)
            .env(NUMBER, number.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, said) = channel();
        thread::spawn(move || hand_on(output, &sender));
        Process { child, said }
    }

    /// The next line that it says.
    #[track_caller]
    pub(crate) fn hear(&self) -> String {
        let said = self.said.recv_timeout(PATIENCE);
        said.expect("the process says something")
    }

    /// What it has said since it was last listened to.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.said.try_iter().collect()
    }

    pub(crate) fn tell(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// All that it says until it ends, which it must do well.
    pub(crate) fn rest(mut self) -> Vec<String> {
        let mut rest = Vec::new();
        loop {
            match self.said.recv_timeout(PATIENCE) {
                Ok(line) => rest.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("the process neither speaks nor ends"),
            }
        }
        assert!(self.child.wait().unwrap().success(), "the process failed");
        rest
    }

    /// Kills it; all that it has said until then.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.said.iter().collect()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Hands on what a process says, and not what its test harness does. A line that a kill has cut short does not count.
fn hand_on(mut output: BufReader<ChildStdout>, sender: &Sender<String>) {
    let mut line = String::new();
    while output.read_line(&mut line).is_ok() && line.ends_with('\n') {
        let said = line.trim_end().strip_prefix("> ");
        if said.is_some_and(|said| sender.send(said.to_owned()).is_err()) {
            return;
        }
        line.clear();
    }
}
