//! A plain reference: sessions and their gate written down from docs/spec/contracts.md
//! alone, slowly, as lists that are gone through from the
//! beginning each time. It shares nothing with the code except the words.

use super::script::{ODD, Told};
use super::*;

/// What was accepted in a session and what was said of it, in order.
#[derive(Debug, Clone)]
enum Happened {
    Accepted(u128, CommandBody),
    Ended(u128, CommandBody, CommandResult),
    Read(String, String),
}

#[derive(Debug, Clone)]
struct Ask {
    request: u128,
    actions: Vec<String>,
    /// Whether a RequestApproval asks.
    explicit: bool,
    /// In milliseconds.
    expires: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Life {
    Open,
    Paused,
    Error,
    Completed,
}

/// One session.
#[derive(Debug, Clone)]
struct Plain {
    policy: PolicyProfile,
    life: Life,
    happened: Vec<Happened>,
    queue: Vec<(u128, CommandBody)>,
    asks: Vec<Ask>,
    granted: Vec<String>,
    failures_in_a_row: u32,
    /// Commits that were accepted and did not fail.
    commits: Vec<Committed>,
}

#[derive(Debug, Clone)]
struct Committed {
    number: u128,
    /// Whether it amends the one before.
    amends: bool,
    files: u32,
    /// Whether all before it had ended when it came.
    alone: bool,
    ended: bool,
}

/// Sessions, and the buckets that they share.
#[derive(Debug, Clone)]
pub(super) struct Reference {
    sessions: Vec<Plain>,
    /// A profile's name and limits, a kind, and when a token was taken.
    /// Of all calls of the agent, where there is no kind.
    shared: Vec<(String, RateLimits, Option<CommandKind>, i64)>,
    expiry_seconds: Option<u64>,
    pause_after: u32,
}

/// Any branch.
const ANY: &str = "*";
/// The branch that a repository is on, which only the caller can say.
const UNSAID: &str = "?";

fn short(name: &str) -> &str {
    name.strip_prefix("refs/heads/").unwrap_or(name)
}

/// What a push of each refspec changes, as `git push` was seen to do it.
fn pushed(refspec: &str) -> Option<Vec<&'static str>> {
    Some(match refspec {
        "HEAD:main" | "+main" | "heads/main" => vec!["main"],
        ":rel" | "work:rel" => vec!["rel"],
        "main:work" => vec!["work"],
        "main:refs/tags/v1" => vec![],
        "--all" | ":" | "refs/heads/*:refs/heads/*" | "main rel" => vec![ANY],
        _ => return None,
    })
}

/// The branch that a push of each refspec sends; none, if that is what is checked out, or nothing.
fn sent(refspec: &str) -> Option<&str> {
    match refspec {
        "HEAD:main" | "HEAD" | ":rel" => None,
        "+main" | "main:work" | "main:refs/tags/v1" | "heads/main" => Some("main"),
        "work:rel" => Some("work"),
        "--all" | ":" | "refs/heads/*:refs/heads/*" | "main rel" => Some(ANY),
        name => Some(short(name)),
    }
}

/// What happens, a line an event; or that the command is refused.
pub(super) type Lines = Result<Vec<String>, Refused>;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Refused;

/// The repository that a command is about.
fn path_of(body: &CommandBody) -> Option<&str> {
    let repo = match body {
        CommandBody::CreateBranch(body) => &body.repo,
        CommandBody::ApplyPatch(body) => &body.repo,
        CommandBody::RunTests(body) => &body.repo,
        CommandBody::Commit(body) => &body.repo,
        CommandBody::Push(body) => &body.repo,
        CommandBody::GetDiff(body) => &body.repo,
        _ => return None,
    };
    Some(&repo.path)
}

fn demand(condition: bool) -> Result<(), Refused> {
    if condition { Ok(()) } else { Err(Refused) }
}

/// A bucket, in 60,000ths of a token: what it gets in a millisecond at one call
/// a minute. It is filled from the beginning for every look at it.
#[derive(Debug)]
pub(super) struct PlainBucket {
    pub(super) capacity: u32,
    pub(super) per_minute: u32,
}

impl PlainBucket {
    /// What is in it at a time, and how far its clock has come.
    pub(super) fn content(&self, taken: &[i64], now: i64) -> (i128, i64) {
        let full = i128::from(self.capacity) * 60_000;
        let mut content = full;
        let mut clock = i64::MIN / 2;
        for (time, takes) in taken.iter().map(|time| (*time, 60_000)).chain([(now, 0)]) {
            if time > clock {
                let passed = i128::from(time) - i128::from(clock);
                content = full.min(content + passed * i128::from(self.per_minute));
                clock = time;
            }
            content -= takes;
        }
        (content, clock)
    }

    /// From when on a token can be taken, unless it can be now.
    fn retry(&self, taken: &[i64], now: i64) -> Option<String> {
        let (content, clock) = self.content(taken, now);
        if content >= 60_000 {
            return None;
        }
        if self.per_minute == 0 || self.capacity == 0 {
            return Some("9999-12-31T23:59:59.999999900Z".to_owned());
        }
        // A millisecond has 10,000 ticks.
        let per_minute = i128::from(self.per_minute);
        let missing = (60_000 - content) * 10_000;
        let ticks = (missing + per_minute - 1) / per_minute;
        let nanos = i64::try_from(ticks * 100).unwrap();
        let time = at_millis(clock).to_utc() + TimeDelta::nanoseconds(nanos);
        Some(Timestamp::from(time).to_string())
    }
}

impl Reference {
    pub(super) fn new(
        policies: &[PolicyProfile],
        expiry_seconds: Option<u64>,
        pause_after: u32,
    ) -> Reference {
        let session = |policy: &PolicyProfile| Plain {
            policy: policy.clone(),
            life: Life::Open,
            happened: Vec::new(),
            queue: Vec::new(),
            asks: Vec::new(),
            granted: Vec::new(),
            failures_in_a_row: 0,
            commits: Vec::new(),
        };
        Reference {
            sessions: policies.iter().map(session).collect(),
            shared: Vec::new(),
            expiry_seconds,
            pause_after,
        }
    }

    pub(super) fn status(&self, session: usize) -> &'static str {
        self.sessions[session].status()
    }

    pub(super) fn queue(&self, session: usize) -> Vec<u128> {
        let queue = &self.sessions[session].queue;
        queue.iter().map(|(number, _)| *number).collect()
    }

    /// Commands that were accepted and have not ended, oldest first.
    pub(super) fn open(&self, session: usize) -> Vec<u128> {
        let happened = &self.sessions[session].happened;
        let ended = |number: u128| {
            happened
                .iter()
                .any(|one| matches!(one, Happened::Ended(n, ..) if *n == number))
        };
        let mut open = Vec::new();
        for one in happened {
            if let Happened::Accepted(number, _) = one
                && !ended(*number)
            {
                open.push(*number);
            }
        }
        open
    }

    /// The requests that an approval may answer, oldest first.
    pub(super) fn requests(&self, session: usize) -> Vec<u128> {
        let asks = &self.sessions[session].asks;
        asks.iter().map(|ask| ask.request).collect()
    }

    /// What is refused changes nothing.
    pub(super) fn submit(
        &mut self,
        session: usize,
        number: u128,
        body: &CommandBody,
        told: Told,
        now: i64,
    ) -> Lines {
        let before = self.clone();
        let lines = self.try_submit(session, number, body, told, now);
        if lines.is_err() {
            *self = before;
        }
        lines
    }

    fn try_submit(
        &mut self,
        session: usize,
        number: u128,
        body: &CommandBody,
        told: Told,
        now: i64,
    ) -> Lines {
        if let CommandBody::Push(push) = body {
            demand(!["--all", "main rel"].contains(&push.branch_name.as_str()))?;
        }
        let waits = self.queue(session).contains(&number);
        demand(!waits && !self.open(session).contains(&number))?;
        let mut lines = self.expire(session, now)?;
        lines.push(format!("{number} {}", body.kind()));
        let plain = &self.sessions[session];
        let closed = match plain.life {
            Life::Open => None,
            Life::Paused => Some("Session is paused"),
            Life::Error => Some("Session is in terminal state: Error"),
            Life::Completed => Some("Session is in terminal state: Completed"),
        };
        if let Some(reason) = closed {
            lines.push(format!("{number} rejected: {reason}"));
            return Ok(lines);
        }
        if let Some(rule) = plain.violated(body, told)? {
            lines.push(format!("{number} rejected: Policy violation, {rule}"));
            return Ok(lines);
        }
        if plain.must_ask(body) {
            lines.push(format!("{number} queued"));
            let asked = plain.asks.iter().any(|ask| !ask.explicit);
            self.sessions[session].queue.push((number, body.clone()));
            if !asked {
                let actions = vec!["Push".to_owned()];
                lines.push(self.ask(session, number, actions, false, now));
            }
            return Ok(lines);
        }
        let accepted = self.rate(session, number, body, now, &mut lines);
        if let (true, CommandBody::Commit(commit)) = (accepted, body) {
            let files = told.files.unwrap_or_default();
            let plain = &mut self.sessions[session];
            plain.commits.push(Committed {
                number,
                amends: commit.amend,
                files,
                alone: plain.commits.iter().all(|it| it.ended),
                ended: false,
            });
        }
        if let (true, CommandBody::RequestApproval(asks)) = (accepted, body) {
            let actions = asks.required_actions.clone();
            lines.push(self.ask(session, number, actions, true, now));
        }
        Ok(lines)
    }

    /// Throttles or accepts; whether it accepts.
    fn rate(
        &mut self,
        session: usize,
        number: u128,
        body: &CommandBody,
        now: i64,
        lines: &mut Vec<String>,
    ) -> bool {
        let name = self.sessions[session].policy.name.clone();
        let limits = self.sessions[session].policy.limits.clone();
        let limits = limits.unwrap_or_default();
        let caps = limits.per_command_caps.clone().unwrap_or_default();
        let kind = body.kind();
        let cap = caps
            .0
            .iter()
            .find(|(capped, _)| *capped == kind.to_string());
        let limit = if let Some((_, cap)) = cap {
            let bucket = PlainBucket {
                capacity: *cap,
                per_minute: *cap,
            };
            Some((bucket, Some(kind)))
        } else {
            limits.calls_per_minute.map(|per_minute| {
                let bucket = PlainBucket {
                    capacity: limits.burst.unwrap_or(per_minute),
                    per_minute,
                };
                (bucket, None)
            })
        };
        let (mut says, mut token) = ("", None);
        if let Some((bucket, of)) = limit {
            let same = |(other, its, kind, _): &&(String, RateLimits, Option<CommandKind>, i64)| {
                (other, its, kind) == (&name, &limits, &of)
            };
            let taken = self.shared.iter().filter(same);
            let taken: Vec<i64> = taken.map(|(.., time)| *time).collect();
            if let Some(time) = bucket.retry(&taken, now) {
                lines.push(format!("{number} throttled: Rate limit exceeded: {time}"));
                return false;
            }
            self.shared.push((name, limits.clone(), of, now));
            (says, token) = (" (shared)", Some(format!("a token of {kind} for {number}")));
        }
        let plain = &mut self.sessions[session];
        plain
            .happened
            .push(Happened::Accepted(number, body.clone()));
        lines.push(format!("{number} accepted{says}"));
        lines.extend(token);
        true
    }

    fn ask(
        &mut self,
        session: usize,
        request: u128,
        actions: Vec<String>,
        explicit: bool,
        now: i64,
    ) -> String {
        let seconds = self.expiry_seconds.map(|s| i64::try_from(s).unwrap());
        let line = format!("{request} asks for {actions:?}");
        self.sessions[session].asks.push(Ask {
            request,
            actions,
            explicit,
            expires: seconds.map(|seconds| now + 1_000 * seconds),
        });
        line
    }

    /// Which ask is answered: the named one or the oldest.
    fn answered(&self, session: usize, request: Option<u128>, now: i64) -> Result<Ask, Refused> {
        let plain = &self.sessions[session];
        let wanted = |ask: &&Ask| request.is_none_or(|request| ask.request == request);
        let ask = plain.asks.iter().find(wanted).ok_or(Refused)?;
        demand(ask.expires.is_none_or(|time| now < time))?;
        Ok(ask.clone())
    }

    pub(super) fn approve(&mut self, session: usize, request: Option<u128>, now: i64) -> Lines {
        let ask = self.answered(session, request, now)?;
        let mut lines = vec![format!("approved {:?}", ask.actions)];
        let plain = &mut self.sessions[session];
        plain.granted.extend(ask.actions);
        let may_push = plain.granted.iter().any(|action| action == "Push");
        plain
            .asks
            .retain(|other| other.request != ask.request && (other.explicit || !may_push));
        self.go_on(session, now, &mut lines)?;
        Ok(lines)
    }

    /// Judges what waits and was approved, and asks for what was not; nothing, in a paused session.
    fn go_on(&mut self, session: usize, now: i64, lines: &mut Vec<String>) -> Result<(), Refused> {
        let plain = &mut self.sessions[session];
        if plain.life != Life::Open {
            return Ok(());
        }
        if plain.granted.iter().any(|action| action == "Push") {
            for (number, body) in std::mem::take(&mut plain.queue) {
                let told = Told {
                    branch: None,
                    files: None,
                };
                match self.sessions[session].violated(&body, told)? {
                    Some(rule) => {
                        lines.push(format!("{number} rejected: Policy violation, {rule}"));
                    }
                    None => drop(self.rate(session, number, &body, now, lines)),
                }
            }
        }
        lines.extend(self.sessions[session].still_asks());
        Ok(())
    }

    pub(super) fn deny(
        &mut self,
        session: usize,
        request: Option<u128>,
        reason: &str,
        now: i64,
    ) -> Lines {
        let ask = self.answered(session, request, now)?;
        let plain = &mut self.sessions[session];
        let mut lines = plain.reject_queue(&format!("{reason}, Approval denied"));
        lines.push(format!("denied: {reason}"));
        plain.forget(ask.request);
        lines.extend(plain.still_asks());
        Ok(lines)
    }

    pub(super) fn expire(&mut self, session: usize, now: i64) -> Lines {
        let plain = &mut self.sessions[session];
        let mut lines = Vec::new();
        loop {
            let due = |ask: &&Ask| ask.expires.is_some_and(|time| time <= now);
            let Some(request) = plain.asks.iter().find(due).map(|ask| ask.request) else {
                return Ok(lines);
            };
            lines.extend(plain.reject_queue("Approval expired, Approval expired"));
            lines.push(format!("{request} expired"));
            plain.forget(request);
            lines.extend(plain.still_asks());
        }
    }

    pub(super) fn pause(&mut self, session: usize) -> Lines {
        let plain = &mut self.sessions[session];
        demand(plain.life == Life::Open)?;
        plain.life = Life::Paused;
        Ok(vec!["paused".to_owned()])
    }

    pub(super) fn resume(&mut self, session: usize, now: i64) -> Lines {
        let plain = &mut self.sessions[session];
        demand(plain.status() == "Paused")?;
        plain.life = Life::Open;
        plain.failures_in_a_row = 0;
        let mut lines = vec!["resumed".to_owned()];
        self.go_on(session, now, &mut lines)?;
        Ok(lines)
    }

    pub(super) fn end(&mut self, session: usize, aborted: bool) -> Lines {
        let plain = &mut self.sessions[session];
        demand(matches!(plain.life, Life::Open | Life::Paused))?;
        let (life, word, line) = match aborted {
            true => (Life::Error, "Error", "aborted"),
            false => (Life::Completed, "Completed", "completed"),
        };
        let mut lines = plain.reject_queue(&format!("Session is in terminal state: {word}"));
        lines.push(line.to_owned());
        plain.asks.clear();
        plain.life = life;
        Ok(lines)
    }

    pub(super) fn complete_command(
        &mut self,
        session: usize,
        number: u128,
        outcome: CommandResult,
    ) -> Lines {
        demand(self.open(session).contains(&number))?;
        let pause_after = self.pause_after;
        let plain = &mut self.sessions[session];
        let body = plain.body(number);
        plain.happened.push(Happened::Ended(number, body, outcome));
        let mut lines = vec![format!("{number} {outcome}")];
        if outcome == CommandResult::Success {
            plain.failures_in_a_row = 0;
            let mut commits = plain.commits.iter_mut();
            if let Some(commit) = commits.find(|it| it.number == number) {
                commit.ended = true;
            }
            return Ok(lines);
        }
        plain.commits.retain(|it| it.number != number);
        plain.failures_in_a_row += 1;
        let failures = plain.failures_in_a_row;
        if pause_after > 0 && failures >= pause_after && plain.life == Life::Open {
            plain.life = Life::Paused;
            lines.push(format!("paused after {failures}"));
        }
        Ok(lines)
    }

    pub(super) fn read(&mut self, session: usize, number: u128, item: &str, state: &str) -> Lines {
        demand(self.open(session).contains(&number))?;
        let body = self.sessions[session].body(number);
        demand(matches!(body, CommandBody::QueryBacklog(_)))?;
        let read = Happened::Read(item.to_owned(), state.to_owned());
        self.sessions[session].happened.push(read);
        Ok(vec!["1 tickets, more: false".to_owned()])
    }
}

impl Plain {
    fn status(&self) -> &'static str {
        match self.life {
            Life::Open if self.asks.is_empty() => "Running",
            Life::Open => "NeedsApproval",
            Life::Paused => "Paused",
            Life::Error => "Error",
            Life::Completed => "Completed",
        }
    }

    fn body(&self, number: u128) -> CommandBody {
        let found = self.happened.iter().find_map(|one| match one {
            Happened::Accepted(n, body) if *n == number => Some(body.clone()),
            _ => None,
        });
        found.expect("an accepted command")
    }

    /// Forgets what was denied or has expired, and pushes that asked.
    fn forget(&mut self, request: u128) {
        self.asks
            .retain(|ask| ask.explicit && ask.request != request);
    }

    fn still_asks(&self) -> Option<String> {
        if self.life != Life::Open {
            return None;
        }
        let ask = self.asks.first()?;
        Some(format!("{} asks for {:?}", ask.request, ask.actions))
    }

    fn reject_queue(&mut self, why: &str) -> Vec<String> {
        let queue = std::mem::take(&mut self.queue);
        let line = |(number, _)| format!("{number} rejected: {why}");
        queue.into_iter().map(line).collect()
    }

    fn must_ask(&self, body: &CommandBody) -> bool {
        let push = matches!(body, CommandBody::Push(_));
        let granted = self.granted.iter().any(|action| action == "Push");
        push && self.policy.require_approval_for_push && !granted
    }

    /// The rule that is broken; refused, if the caller has to say more first.
    fn violated(&self, body: &CommandBody, told: Told) -> Result<Option<&'static str>, Refused> {
        let policy = &self.policy;
        let kind = body.kind().to_string();
        if let Some(white) = &policy.command_whitelist
            && !white.contains(&kind)
        {
            return Ok(Some("Command not in whitelist"));
        }
        if let Some(black) = &policy.command_blacklist
            && black.contains(&kind)
        {
            return Ok(Some("Command in blacklist"));
        }
        if let Some(path) = path_of(body)
            && path != "/app"
        {
            return Ok(Some("Another repository"));
        }
        let protects = |branch: &str| {
            let same = |protected: &String| protected.trim_start_matches("refs/heads/") == branch;
            policy.protected_branches.iter().any(same)
        };
        if !policy.protected_branches.is_empty() {
            let changed = self.branches(body, told);
            demand(changed != [UNSAID])?;
            if changed.contains(&ANY) || changed.into_iter().any(protects) {
                return Ok(Some("Protected branch"));
            }
        }
        if let (CommandBody::Commit(commit), Some(most)) = (body, policy.max_files_per_commit) {
            demand(told.files.is_some())?;
            // Folders are included, so that there are files.
            demand(told.files != Some(0) || commit.include_paths.is_empty())?;
            if told.files.max(self.amended(commit.amend)) > Some(most) {
                return Ok(Some("Too many files in commit"));
            }
        }
        if let CommandBody::Push(push) = body
            && policy.require_tests_before_push
        {
            let untested = Ok(Some("Tests required before push"));
            if !self.tested() {
                return untested;
            }
            if let Some(sent) = sent(&push.branch_name) {
                let checked_out = self.created("/app");
                demand(checked_out.is_some())?;
                if checked_out != Some(sent) {
                    return untested;
                }
            }
        }
        if let (CommandBody::TransitionTicket(to), Some(allowed)) =
            (body, &policy.allowed_work_item_transitions)
        {
            let step = self
                .state_of(&to.item.id)
                .map(|from| [&from, "->", &to.state].concat());
            if step.is_none_or(|step| !allowed.contains(&step)) {
                return Ok(Some("Work item transition not allowed"));
            }
        }
        Ok(None)
    }

    /// How many files the commits have that one amends: where commits overlapped, it may be any of them. Those of one are
    /// among those of a larger one.
    fn amended(&self, amend: bool) -> Option<u32> {
        let mut last = self.commits.as_slice();
        if let Some(place) = last.iter().rposition(|it| !it.amends)
            && last[place].alone
        {
            last = &last[place..];
        }
        let most = last.iter().map(|it| it.files).max();
        most.filter(|_| amend)
    }

    /// The branches that a command may change, by their short names.
    fn branches<'a>(&'a self, body: &'a CommandBody, told: Told) -> Vec<&'a str> {
        match body {
            CommandBody::CreateBranch(body) => vec![short(&body.branch_name)],
            CommandBody::Push(body) => match body.branch_name.as_str() {
                "HEAD" => vec![self.created("/app").unwrap_or(UNSAID)],
                refspec => pushed(refspec).unwrap_or_else(|| vec![short(refspec)]),
            },
            CommandBody::Commit(body) => {
                let created = self.created(&body.repo.path);
                let told = told.branch.map(|branch| match ODD.contains(&branch) {
                    true => ANY,
                    false => short(branch),
                });
                let known: Vec<&str> = told.into_iter().chain(created).collect();
                match known.is_empty() {
                    true => vec![UNSAID],
                    false => known,
                }
            }
            _ => Vec::new(),
        }
    }

    /// The branch that was created last in a repository.
    fn created(&self, path: &str) -> Option<&str> {
        let created = |one: &'_ Happened| match one {
            Happened::Ended(_, CommandBody::CreateBranch(made), CommandResult::Success) => {
                made.repo.path == path
            }
            _ => false,
        };
        match self.happened.iter().rev().find(|one| created(one))? {
            Happened::Ended(_, CommandBody::CreateBranch(made), _) => {
                Some(short(&made.branch_name))
            }
            _ => None,
        }
    }

    /// Whether tests passed that began when every change until now had been
    /// accepted, and none of these ended since.
    fn tested(&self) -> bool {
        let is_change = |body: &CommandBody| {
            matches!(body, CommandBody::ApplyPatch(_) | CommandBody::Commit(_))
        };
        let passed = |number: u128| {
            self.happened.iter().any(
                |one| matches!(one, Happened::Ended(n, _, CommandResult::Success) if *n == number),
            )
        };
        // Pushes are of this repository.
        let counts = |tests: &RunTests| {
            tests.repo.path == "/app"
                && (tests.filter.is_none() || self.policy.filtered_tests_count)
        };
        for one in self.happened.iter().rev() {
            match one {
                Happened::Accepted(_, body) | Happened::Ended(_, body, _) if is_change(body) => {
                    return false;
                }
                Happened::Accepted(number, CommandBody::RunTests(tests))
                    if passed(*number) && counts(tests) =>
                {
                    return true;
                }
                _ => {}
            }
        }
        false
    }

    /// The state that a ticket was last seen in.
    fn state_of(&self, item: &str) -> Option<String> {
        let state = |one: &Happened| match one {
            Happened::Read(id, state) if id == item => Some(state.clone()),
            Happened::Ended(_, CommandBody::TransitionTicket(to), CommandResult::Success)
                if to.item.id == item =>
            {
                Some(to.state.clone())
            }
            _ => None,
        };
        self.happened.iter().rev().find_map(state)
    }
}
