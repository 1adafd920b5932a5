//! Taking in what waits in the spool: each event once, and each session's in their order.

use std::collections::HashSet;
use std::time::{Instant, SystemTime};

use annals::Annals;
use annals::event_log::{Classification, Classified};
use annals_dialects::import::ImportError;
use annals_dialects::live::{Live, Outcome};
use annals_dialects::secrets::Secrets;
use serde::Serialize;
use uuid::Uuid;

use crate::grants;
use crate::hook::{Hook, HookAgent};
use crate::spool::{Spool, SpoolError, Spooled};

/// The largest event that waits which a hook takes in: what a larger one takes, it may not have time for.
const LARGEST_ON_THE_WAY: u64 = 128 * 1024;

/// Why taking in stopped. What was taken in stays, the rest waits.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TakeError {
    /// The spool cannot be used.
    #[error(transparent)]
    Spool(#[from] SpoolError),
    /// The log did not take an event.
    #[error("an event of an agent was not recorded: {0}")]
    Log(#[from] ImportError),
}

impl Classified for TakeError {
    fn classify(&self) -> Classification {
        match self {
            TakeError::Spool(error) => error.classify(),
            TakeError::Log(error) => error.classify(),
        }
    }
}

/// What was taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Taken {
    /// Events that are in the log now.
    pub recorded: usize,
    /// Events that wait for their session to begin.
    pub waiting: usize,
    /// Events that were put aside.
    pub aside: usize,
    /// Events that were told for another log, which was there before: they wait for it.
    pub of_others: usize,
}

/// Takes in what waits beside a log; of one session alone, where `only` has its mark.
///
/// What waits in places of before, under other names of the log, is taken in, too.
///
/// Any number of processes may do so at once: an event is recorded under its own id, by whoever is first, and forgotten
/// then. An event before its session's first prompt waits for that: the session begins with it.
///
/// # Errors
/// [`TakeError`].
pub async fn take_in(
    annals: &Annals,
    spool: &Spool,
    secrets: &Secrets,
) -> Result<Taken, TakeError> {
    let log = annals.log().log_id();
    let is_ours = |told_for: Option<Uuid>| told_for.is_none_or(|it| it == log);
    let mut taken = take(annals, spool, secrets, spool.waiting()?, &is_ours, None).await?;
    spool.sweep(SystemTime::now())?;
    let mut has_more = false;
    for former in spool.former(log) {
        let waiting = former.spool.waiting()?;
        let is_ours = |told_for| former.has(told_for, log);
        let more = take(annals, &former.spool, secrets, waiting, &is_ours, None).await?;
        if more.waiting == 0 {
            former.forget(log);
        }
        has_more |= more.recorded > 0;
        taken.add(more);
    }
    if has_more && taken.waiting > 0 {
        // What came first may have waited for what was elsewhere.
        let again = take(annals, spool, secrets, spool.waiting()?, &is_ours, None).await?;
        taken.recorded += again.recorded;
        taken.waiting -= again.recorded.min(taken.waiting);
    }
    Ok(taken)
}

impl Taken {
    fn add(&mut self, more: Taken) {
        self.recorded += more.recorded;
        self.waiting += more.waiting;
        self.aside += more.aside;
    }
}

/// Takes in small events that wait of a session, until it is time for what comes behind them. So no event in the spool
/// keeps a later one from the log, however long it takes: larger ones, and what there was no time for, are for a process
/// without a deadline.
pub(crate) async fn take_session(
    annals: &Annals,
    spool: &Spool,
    secrets: &Secrets,
    session: &str,
    until: Instant,
) -> Result<Taken, TakeError> {
    let mut waiting = spool.waiting()?;
    waiting.retain(|spooled| spooled.session == session);
    let log = annals.log().log_id();
    let is_ours = |told_for: Option<Uuid>| told_for.is_none_or(|it| it == log);
    take(annals, spool, secrets, waiting, &is_ours, Some(until)).await
}

async fn take(
    annals: &Annals,
    spool: &Spool,
    secrets: &Secrets,
    waiting: Vec<Spooled>,
    is_ours: &(dyn Fn(Option<Uuid>) -> bool + Sync),
    until: Option<Instant>,
) -> Result<Taken, TakeError> {
    let mut taken = Taken::default();
    let mut recorders = Recorders::new(annals);
    // What waits for its session comes behind what began that: again, as long as something began.
    let mut left = waiting;
    loop {
        let mut again = Vec::new();
        let mut progress: HashSet<String> = HashSet::new();
        for spooled in left {
            if let Some(until) = until {
                if Instant::now() >= until {
                    return Ok(taken);
                }
                let bytes = spool.bytes(&spooled)?;
                if bytes.is_none_or(|bytes| bytes > LARGEST_ON_THE_WAY) {
                    continue;
                }
            }
            let Some(hook) = spool.read(&spooled, secrets)? else {
                continue;
            };
            if !is_ours(hook.log) {
                taken.of_others += 1;
                continue;
            }
            match recorders.record(&hook).await? {
                Outcome::Recorded | Outcome::Before => {
                    spool.remove(&spooled)?;
                    progress.insert(spooled.session.clone());
                    taken.recorded += 1;
                }
                Outcome::Waits => again.push(spooled),
                _ => {
                    spool.put_aside(&spooled)?;
                    taken.aside += 1;
                }
            }
        }
        again.retain(|spooled| {
            progress.contains(&spooled.session) || {
                taken.waiting += 1;
                false
            }
        });
        if again.is_empty() {
            return Ok(taken);
        }
        left = again;
    }
}

/// Records hooks of any agent.
pub(crate) struct Recorders<'a> {
    annals: &'a Annals,
    each: Vec<(HookAgent, Live<'a>)>,
}

impl<'a> Recorders<'a> {
    pub(crate) fn new(annals: &'a Annals) -> Recorders<'a> {
        Recorders {
            annals,
            each: Vec::new(),
        }
    }

    /// Records a hook, once. It is on disk when this answers.
    pub(crate) async fn record(&mut self, hook: &Hook) -> Result<Outcome, ImportError> {
        let Some(agent) = hook.live_agent() else {
            return Ok(Outcome::Refused);
        };
        let mut telling = hook.telling();
        let completed = grants::complete(self.annals, agent, &mut telling).await;
        completed.map_err(|error| ImportError::View(Box::new(error)))?;
        match self.of(hook) {
            Some(live) => live.tell(&telling).await,
            None => Ok(Outcome::Refused),
        }
    }

    fn of(&mut self, hook: &Hook) -> Option<&mut Live<'a>> {
        let place = self.each.iter().position(|(agent, _)| *agent == hook.agent);
        let place = match place {
            Some(place) => place,
            None => {
                let live = Live::new(self.annals, hook.live_agent()?);
                self.each.push((hook.agent, live));
                self.each.len() - 1
            }
        };
        self.each.get_mut(place).map(|(_, live)| live)
    }
}
