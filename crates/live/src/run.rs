//! One hook from its JSON to the log, within its deadline, or into the spool.

use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use annals::{Annals, OpenError, OpenOptions};
use annals_dialects::import::ImportError;
use annals_dialects::live::Outcome;
use annals_dialects::secrets::Secrets;
use annals_tool_policy::Verdict;

use crate::bell::Ringer;
use crate::gate::Ruling;
use crate::hook::Hook;
use crate::spool::{Spool, SpoolError, from_kept, kept, session_mark};
use crate::take::{Recorders, TakeError, Taken, take_session};

/// What a process says that has recorded a hook.
const RECORDED: &str = "recorded";

/// The most bytes that it is given: those of a hook, written as JSON in JSON, and its policies.
const LONGEST: u64 = 128 * 1024 * 1024;

/// What became of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Became {
    /// It is in the log.
    Recorded,
    /// It is on disk in the spool, and a process that stays takes it in.
    HandedOver,
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
    /// Whether a call is refused whose verdict the log does not have.
    pub fail_closed: bool,
}

impl HookRun {
    /// A hook for a log.
    pub fn new(log: impl Into<String>, secrets: Secrets, deadline: Instant) -> HookRun {
        HookRun {
            log: log.into(),
            secrets,
            deadline,
            fail_closed: false,
        }
    }

    /// Refuses a call whose verdict the log does not have.
    #[must_use]
    pub fn with_fail_closed(self, fail_closed: bool) -> HookRun {
        HookRun {
            fail_closed,
            ..self
        }
    }

    /// Records a hook, or keeps it in the spool: it is on disk in one of them when this answers, and this answers by
    /// its deadline, unless the disk itself is slower. With it comes what the gate may answer: what is on disk, and no
    /// other verdict. Nothing is only refused.
    ///
    /// Where a process stays that takes in what comes ([`crate::Bell`]), it has the event from the spool at once.
    /// Otherwise the log is opened by another process, which runs [`deliver`] and is given so much time: it can be
    /// given up at any moment, and whatever becomes of it, this one goes on.
    pub fn decide(
        &self,
        hook: Hook,
        courier: impl FnOnce(Duration) -> io::Result<Command>,
    ) -> (Became, Option<Ruling>) {
        let spool = match Spool::of(&self.log) {
            Ok(spool) => spool,
            Err(error) => return self.lost(hook, error.to_string()),
        };
        let hook = hook.with_log(spool.log_id());
        if self.handed_over(&hook, &spool) {
            return (Became::HandedOver, hook.ruling);
        }
        let courier = match self.in_log(&hook, courier(self.left())) {
            Ok(()) => return (Became::Recorded, hook.ruling),
            Err(failed) => failed,
        };
        let hook = self.closed(hook, &courier.reason);
        // It ends with what is left of it, once the event is somewhere.
        match spool.put(&hook) {
            Ok(()) => (Became::Spooled(courier.reason.clone()), hook.ruling),
            Err(error) => self.lost(hook, format!("{}; {error}", courier.reason)),
        }
    }

    /// Keeps it for a process that stays, if there is one. For a gate that fails closed only the log counts.
    fn handed_over(&self, hook: &Hook, spool: &Spool) -> bool {
        if self.fail_closed && hook.ruling.is_some() {
            return false;
        }
        let Some(ringer) = Ringer::find(spool) else {
            return false;
        };
        // What cannot be kept there, the log may take still.
        let is_kept = spool.try_put(hook).is_ok();
        if is_kept {
            ringer.ring();
        }
        is_kept
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    fn lost(&self, hook: Hook, reason: String) -> (Became, Option<Ruling>) {
        let ruling = self.fail_closed.then(|| self.closed(hook, &reason).ruling);
        (Became::Lost(reason), ruling.flatten())
    }

    /// A hook whose call the log knows nothing of, as far as is known: it is refused, where that is wanted. Should the
    /// log come to have the first verdict still, this is another one, and has a name of its own.
    fn closed(&self, hook: Hook, reason: &str) -> Hook {
        let is_open = |ruling: &Ruling| ruling.verdict != Verdict::Deny;
        if !self.fail_closed || !hook.ruling.as_ref().is_some_and(is_open) {
            return hook;
        }
        let ruling = Ruling::failure(reason, &self.secrets);
        let mut hook = hook.with_ruling(Some(ruling));
        hook.id = annals::event_log::new_id();
        hook
    }

    /// Has another process record it, for as long as there is time.
    fn in_log(&self, hook: &Hook, courier: io::Result<Command>) -> Result<(), Undelivered> {
        if self.left().is_zero() {
            return Err(Undelivered {
                reason: "there was no time left for the log".to_owned(),
                courier: None,
            });
        }
        let started = courier.and_then(|mut command| {
            let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
            command.stderr(Stdio::null()).spawn()
        });
        let mut courier = match started {
            Ok(courier) => courier,
            Err(error) => {
                let reason = format!("the log could not be opened: {error}");
                return Err(Undelivered {
                    reason,
                    courier: None,
                });
            }
        };
        let told = talk(&mut courier, hook);
        // What is left is for the spool.
        let reason = match told.recv_timeout(self.left().mul_f64(0.8)) {
            Ok(said) if said == RECORDED => return Ok(()),
            Ok(said) if !said.is_empty() => said,
            Err(RecvTimeoutError::Timeout) => "the log did not answer in time".to_owned(),
            _ => "recording it failed".to_owned(),
        };
        Err(Undelivered {
            reason,
            courier: Some(courier),
        })
    }
}

/// A hook that was not recorded, and the process that was to do so, which is ended with this.
struct Undelivered {
    reason: String,
    courier: Option<Child>,
}

impl Drop for Undelivered {
    fn drop(&mut self) {
        if let Some(courier) = &mut self.courier {
            // It may have ended by itself.
            let _ = courier.kill();
        }
    }
}

/// Gives a process the hook, and learns what it says, on a thread of its own: neither is waited for too long.
fn talk(courier: &mut Child, hook: &Hook) -> Receiver<String> {
    let (tell, told) = channel();
    let (input, output) = (courier.stdin.take(), courier.stdout.take());
    let bytes = kept(hook).unwrap_or_default();
    let thread = std::thread::Builder::new().name("annals-hook".to_owned());
    // Without a thread nothing is told.
    let _ = thread.spawn(move || {
        let mut said = String::new();
        // Where it does not take all of it, it says why.
        let given = input.map(|mut input| input.write_all(&bytes));
        drop(given);
        if let Some(output) = output {
            // It may go on with other work once it has answered.
            let _ = BufReader::new(output).read_line(&mut said);
        }
        let _ = tell.send(said.trim_end().to_owned());
    });
    told
}

/// Why a hook is not in the log; the process that gave it is told so.
#[derive(Debug, thiserror::Error)]
enum NotDelivered {
    #[error("the process that records it could not read the event: {0}")]
    Input(#[from] io::Error),
    /// What was cut off is given up by the one who gave it.
    #[error("the process that records it got no event that it can read")]
    NoEvent,
    #[error(transparent)]
    Spool(#[from] SpoolError),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Before(#[from] TakeError),
    #[error(transparent)]
    Log(#[from] ImportError),
    #[error("its session has not begun")]
    NotBegun,
    #[error("the log refused it")]
    Refused,
}

/// The part of its time in which a process that records a hook takes in what came before it.
const FOR_BEFORE: f64 = 0.4;

/// Records the hook that another process gives, within so much time; what is to be told to it.
pub async fn deliver(log: &str, input: impl Read, within: Duration) -> String {
    // A time that is too far away for the clock leaves none for what came before.
    let now = Instant::now();
    let until = now.checked_add(within.mul_f64(FOR_BEFORE)).unwrap_or(now);
    match delivered(log, input, until).await {
        Ok(()) => RECORDED.to_owned(),
        Err(error) => error.to_string(),
    }
}

async fn delivered(log: &str, input: impl Read, until: Instant) -> Result<(), NotDelivered> {
    let mut text = String::new();
    input.take(LONGEST).read_to_string(&mut text)?;
    let secrets = Secrets::standard();
    let hook = from_kept(&text, &secrets).ok_or(NotDelivered::NoEvent)?;
    let spool = Spool::of(log)?;
    let annals = OpenOptions::new().open(log)?;
    // Boxed, because the compiler bounds how deep futures lie in each other.
    let recorded = Box::pin(record(&annals, &secrets, (&hook, &spool), until)).await;
    annals.close().await;
    recorded
}

async fn record(
    annals: &Annals,
    secrets: &Secrets,
    (hook, spool): (&Hook, &Spool),
    until: Instant,
) -> Result<(), NotDelivered> {
    let session = session_mark(hook);
    // What came before it comes before it, as far as there is time: an agent waits for this one.
    let before = match spool.is_of_another() {
        // The log's user lets this one write to it; what waits there is theirs.
        true => Taken::default(),
        false => take_session(annals, spool, secrets, &session, until).await?,
    };
    match Recorders::new(annals).record(hook).await? {
        Outcome::Recorded | Outcome::Before => {}
        Outcome::Waits => return Err(NotDelivered::NotBegun),
        _ => return Err(NotDelivered::Refused),
    }
    if before.waiting > 0 {
        // They waited for this one; if not now, the next process takes them in.
        let _ = take_session(annals, spool, secrets, &session, until).await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use annals::blocking::Wait as _;
    use annals::domain::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::hook::HookAgent;

    fn asks(call: u64) -> Hook {
        let named = (
            annals::event_log::new_id(),
            Timestamp::from(annals::event_log::now()),
        );
        let event = json!({
            "session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_use_id": call.to_string(), "tool_input": { "command": "ls" },
        });
        let bytes = event.to_string().into_bytes();
        Hook::new(HookAgent::Claude, named, bytes, 0, &Secrets::standard())
    }

    /// What there is no time for waits, and what was told now is in the log.
    #[test]
    fn what_waits_keeps_nothing_from_the_log() {
        let place = tempfile::tempdir().unwrap();
        let log = place.path().join("log").to_str().unwrap().to_owned();
        let annals = OpenOptions::new().create_new(true).open(&log).unwrap();
        let (spool, secrets) = (Spool::of(&log).unwrap(), Secrets::standard());
        (0..3).for_each(|call| spool.put(&asks(call)).unwrap());
        let waiting = || spool.waiting().unwrap().len();
        let now = Instant::now();
        for (call, until, expected) in [(3, now, 3), (4, now + Duration::from_secs(3_600), 0)] {
            let hook = asks(call);
            record(&annals, &secrets, (&hook, &spool), until)
                .wait()
                .unwrap();
            assert_eq!(waiting(), expected);
        }
        let calls = annals.tool_calls();
        let ids = annals_dialects::live::agent("claude").unwrap().ids();
        for call in 0..5 {
            let id = ids.tool(&call.to_string()).invocation;
            assert!(calls.call(id).wait().unwrap().is_some(), "{call}");
        }
        annals.close().wait();
    }
}
