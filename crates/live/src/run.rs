//! One hook from its JSON to the log, within its deadline, or into the spool.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Instant;

use annals::OpenOptions;
use annals::blocking::Wait as _;
use annals_dialects::live::Outcome;
use annals_dialects::secrets::Secrets;

use crate::hook::Hook;
use crate::spool::{Spool, session_mark};
use crate::take::{Recorders, take_session};

/// What became of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Became {
    /// It is in the log.
    Recorded,
    /// It is on disk in the spool, for this reason.
    Spooled(String),
    /// It is neither, for this reason.
    Lost(String),
}

/// A hook that is to be recorded.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HookRun {
    /// The log, as `--log` names it.
    pub log: String,
    /// What is taken out.
    pub secrets: Secrets,
    /// Until when it must be somewhere.
    pub deadline: Instant,
}

impl HookRun {
    /// A hook for a log.
    pub fn new(log: impl Into<String>, secrets: Secrets, deadline: Instant) -> HookRun {
        HookRun {
            log: log.into(),
            secrets,
            deadline,
        }
    }

    /// Records a hook, or keeps it in the spool: it is on disk in one of them when this answers, and this answers by
    /// its deadline, unless the disk itself is slower.
    pub fn record(&self, hook: &Hook) -> Became {
        let spool = match Spool::of(&self.log) {
            Ok(spool) => spool,
            Err(error) => return Became::Lost(error.to_string()),
        };
        let reason = match self.in_log(hook, &spool) {
            Ok(()) => return Became::Recorded,
            Err(reason) => reason,
        };
        match spool.put(hook) {
            Ok(()) => Became::Spooled(reason),
            Err(error) => Became::Lost(format!("{reason}; {error}")),
        }
    }

    /// Records it on a thread of its own, which is left alone when it takes too long: opening a log cannot be interrupted.
    fn in_log(&self, hook: &Hook, spool: &Spool) -> Result<(), String> {
        let (tell, told) = channel();
        let (log, secrets) = (self.log.clone(), self.secrets.clone());
        let (hook, spool) = (hook.clone(), spool.clone());
        let thread = std::thread::Builder::new().name("annals-hook".to_owned());
        let started = thread.spawn(move || {
            let _ = tell.send(record(&log, &secrets, &hook, &spool));
        });
        started.map_err(|error| format!("no thread could be started: {error}"))?;
        // What is left is for the spool.
        let left = self.deadline.saturating_duration_since(Instant::now());
        match told.recv_timeout(left.mul_f64(0.8)) {
            Ok(recorded) => recorded,
            Err(RecvTimeoutError::Timeout) => Err("the log did not answer in time".to_owned()),
            Err(RecvTimeoutError::Disconnected) => Err("recording it failed".to_owned()),
        }
    }
}

fn record(log: &str, secrets: &Secrets, hook: &Hook, spool: &Spool) -> Result<(), String> {
    let annals = OpenOptions::new()
        .open(log)
        .map_err(|error| error.to_string())?;
    let recorded = async {
        let session = session_mark(hook);
        // What came before it comes before it.
        let before = take_session(&annals, spool, secrets, &session).await;
        let before = before.map_err(|error| error.to_string())?;
        let outcome = Recorders::new(&annals).record(hook).await;
        match outcome.map_err(|error| error.to_string())? {
            Outcome::Recorded | Outcome::Before => {}
            Outcome::Waits => return Err("its session has not begun".to_owned()),
            _ => return Err("the log refused it".to_owned()),
        }
        if before.waiting > 0 {
            // They waited for this one; if not now, the next process takes them in.
            let _ = take_session(&annals, spool, secrets, &session).await;
        }
        Ok(())
    };
    let recorded = recorded.wait();
    annals.close().wait();
    recorded
}
