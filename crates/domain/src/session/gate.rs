//! The gate: what becomes of a command, by the session's state and policy.
//!
//! A pure function, so that what was judged can be judged again, also under
//! another policy. The order of its questions and its words are those of the
//! contracts (docs/spec/contracts.md).

use super::refspec::{Source, Target, is_branch, is_pushed_as, source, target};
use super::{
    CommandFacts, CommandKind, PolicyProfile, RejectionRule, Session, SessionStatus, TokenSource,
    cap,
};
use crate::bucket::Level;
use crate::input::plain_path;
use crate::{Refusal, Timestamp, is_removed_name};

/// The scope in the answer to throttled commands.
pub const RATE_LIMIT_SCOPE: &str = "Rate limit exceeded";
/// The reason of commands that the policy rejects.
pub const POLICY_VIOLATION: &str = "Policy violation";
/// The action that an approval of pushes grants.
pub const PUSH: &str = "Push";

/// What becomes of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// It may not be done.
    Rejected {
        /// Why.
        reason: String,
        /// By which rule.
        rule: Option<RejectionRule>,
    },
    /// It waits for an approval.
    Queued,
    /// It cannot be judged: the caller has to say more of it.
    Unsaid(Unsaid),
    /// It came too early.
    Throttled {
        /// From when on it may be given.
        retry_after: Timestamp,
    },
    /// It may be done.
    Accepted {
        /// The bucket that it takes a token from.
        token: TokenSource,
    },
}

/// What the gate has to know of a command, and only the caller can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsaid {
    /// The branch that the repository of a commit is on.
    Branch,
    /// The files that are committed.
    Files,
    /// Whether what is pushed is what is checked out, which tests ran on.
    Source,
    /// Which branch a push changes.
    Destination,
}

impl Unsaid {
    /// The field of `submit_command` in which it is said.
    pub fn field(self) -> &'static str {
        match self {
            Unsaid::Branch => "branch",
            Unsaid::Files => "files",
            Unsaid::Source | Unsaid::Destination => "branchName",
        }
    }

    /// The rule that the command may break.
    pub(super) fn rule(self) -> RejectionRule {
        match self {
            Unsaid::Branch | Unsaid::Destination => RejectionRule::ProtectedBranch,
            Unsaid::Files => RejectionRule::TooManyFiles,
            Unsaid::Source => RejectionRule::TestsRequired,
        }
    }

    /// The refusal that asks for it.
    pub fn refusal(self) -> Refusal {
        let reason = match self {
            Unsaid::Branch => {
                "the session's policy protects branches, and this session created none in the \
                 repository: say which branch the repository is on"
            }
            Unsaid::Files => {
                "the session's policy limits the files of a commit, and a path may be a folder or a \
                 pattern: list the files that the commit changes"
            }
            Unsaid::Source => {
                "the session's policy requires tests before a push, which ran on what is checked out, \
                 and this session created no branch in the repository, so that another one may be \
                 pushed: push what is checked out, as HEAD:BRANCH"
            }
            Unsaid::Destination => {
                "the session's policy protects branches, and it is not known which branch this would \
                 change: name it, as HEAD:BRANCH"
            }
        };
        Refusal::invalid(self.field(), reason)
    }
}

/// Why a policy does not let a command pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Violation {
    /// It breaks a rule.
    Rule(RejectionRule),
    /// Whether it breaks one is not known.
    Unsaid(Unsaid),
}

/// Why a session in this status accepts no commands, if so.
pub fn closed(status: SessionStatus) -> Option<String> {
    match status {
        SessionStatus::Paused => Some("Session is paused".to_owned()),
        SessionStatus::Error | SessionStatus::Completed => Some(terminal_reason(status)),
        SessionStatus::Unknown | SessionStatus::Running | SessionStatus::NeedsApproval => None,
    }
}

/// The reason of commands that come too late.
pub(crate) fn terminal_reason(status: SessionStatus) -> String {
    format!("Session is in terminal state: {status}")
}

/// Judges a command. `shared` is what is in the bucket of its kind, where the
/// policy has a cap on that ([`cap`](super::cap)), or else in that of its agent's calls.
///
/// # Errors
/// [`Refusal::Invalid`], if the session's policy is not known.
pub fn judge(
    session: &Session,
    facts: &CommandFacts,
    at: Timestamp,
    shared: Option<Level>,
) -> Result<Judgement, Refusal> {
    if let Some(reason) = closed(session.status) {
        return Ok(Judgement::Rejected { reason, rule: None });
    }
    let policy = policy(session)?;
    Ok(admit(session, policy, facts, at, shared))
}

/// Judges a command of a session that is open, which it may have been given
/// earlier: by policy, approval and rate.
pub(crate) fn admit(
    session: &Session,
    policy: &PolicyProfile,
    facts: &CommandFacts,
    at: Timestamp,
    shared: Option<Level>,
) -> Judgement {
    match violated(session, policy, facts) {
        None => {}
        Some(Violation::Unsaid(unsaid)) => return Judgement::Unsaid(unsaid),
        Some(Violation::Rule(rule)) => {
            return Judgement::Rejected {
                reason: POLICY_VIOLATION.to_owned(),
                rule: Some(rule),
            };
        }
    }
    if needs_approval(session, policy, facts.kind) {
        return Judgement::Queued;
    }
    let (limit, level, token) = match (cap(policy, facts.kind), session.limit()) {
        (Some(cap), _) => (cap, shared, TokenSource::Shared),
        (None, Some(calls)) if session.agent.is_some() => (calls, shared, TokenSource::Shared),
        (None, Some(own)) => (own, session.level, TokenSource::Session),
        (None, None) => {
            return Judgement::Accepted {
                token: TokenSource::None,
            };
        }
    };
    match limit.check(level, at) {
        Ok(()) => Judgement::Accepted { token },
        Err(retry_after) => Judgement::Throttled { retry_after },
    }
}

/// The policy of a session.
pub(crate) fn policy(session: &Session) -> Result<&PolicyProfile, Refusal> {
    let reason = "it was taken over from another system without its configuration, so that \
                  nothing can be judged in it; create a session to go on";
    let policy = session
        .policy
        .as_deref()
        .ok_or_else(|| Refusal::invalid("session", reason))?;
    let of_the_session = session.repo.iter().chain(&session.agent);
    let mut names = policy.names().chain(of_the_session.map(String::as_str));
    if names.any(is_removed_name) {
        let reason = "names in its policy were removed by a redaction, so that nothing can be judged \
                      in it; create a session to go on";
        return Err(Refusal::invalid("session", reason));
    }
    Ok(policy)
}

/// Whether a command must wait for an approval that was not given yet.
pub fn needs_approval(session: &Session, policy: &PolicyProfile, kind: CommandKind) -> bool {
    kind == CommandKind::Push && policy.require_approval_for_push && !session.granted.contains(PUSH)
}

/// The first rule of the policy that a command breaks, or may break for all that is known.
pub fn violated(
    session: &Session,
    policy: &PolicyProfile,
    facts: &CommandFacts,
) -> Option<Violation> {
    let rule = |rule| Some(Violation::Rule(rule));
    let kind = facts.kind.as_str();
    let lists = |list: &Vec<String>| list.iter().any(|listed| listed == kind);
    if policy
        .command_whitelist
        .as_ref()
        .is_some_and(|list| !lists(list))
    {
        return rule(RejectionRule::NotInWhitelist);
    }
    if policy.command_blacklist.as_ref().is_some_and(lists) {
        return rule(RejectionRule::InBlacklist);
    }
    if is_elsewhere(session, facts) {
        return rule(RejectionRule::OtherRepository);
    }
    if let Some(violation) = protected(session, policy, facts) {
        return Some(violation);
    }
    match (facts.files, policy.max_files_per_commit) {
        (Some(files), Some(most)) if files > most => return rule(RejectionRule::TooManyFiles),
        (None, Some(_)) if facts.kind == CommandKind::Commit => {
            return Some(Violation::Unsaid(Unsaid::Files));
        }
        _ => {}
    }
    if let Some(violation) = untested(session, policy, facts) {
        return Some(violation);
    }
    if !may_transition(session, policy, facts) {
        return rule(RejectionRule::TransitionNotAllowed);
    }
    None
}

/// Whether a command is about another repository than the session's, where that is known.
fn is_elsewhere(session: &Session, facts: &CommandFacts) -> bool {
    match (&session.repo, &facts.repo) {
        (Some(own), Some(repo)) => *own != plain_path(repo),
        _ => false,
    }
}

/// What is wrong with the tests of what is pushed. They ran on what is checked out, which is the branch
/// that the session created last in the repository.
fn untested(session: &Session, policy: &PolicyProfile, facts: &CommandFacts) -> Option<Violation> {
    if facts.kind != CommandKind::Push || !policy.require_tests_before_push {
        return None;
    }
    let untested = Some(Violation::Rule(RejectionRule::TestsRequired));
    if !session.is_tested(facts.repo.as_deref()) {
        return untested;
    }
    let pushed = match source(facts.branch.as_deref().unwrap_or_default()) {
        Source::Head | Source::Nothing => return None,
        Source::Branch(name) => Some(name),
        Source::Unknown => None,
    };
    match current(session, facts, None) {
        Changed::Unsaid => Some(Violation::Unsaid(Unsaid::Source)),
        Changed::Named(on) if pushed.is_some_and(|it| on.iter().all(|on| is_pushed_as(on, it))) => {
            None
        }
        _ => untested,
    }
}

/// What is wrong with the branch that a command changes: it is protected, or it may be. A name that
/// was removed can be any, and so can one that git would not take for a single branch.
fn protected(session: &Session, policy: &PolicyProfile, facts: &CommandFacts) -> Option<Violation> {
    if policy.protected_branches.is_empty() {
        return None;
    }
    match branch(session, facts) {
        Changed::None => return None,
        Changed::Unsaid if facts.kind == CommandKind::Push => {
            return Some(Violation::Unsaid(Unsaid::Destination));
        }
        Changed::Unsaid => return Some(Violation::Unsaid(Unsaid::Branch)),
        Changed::Named(names) if !names.iter().any(|name| policy.protects(name)) => {
            return None;
        }
        Changed::Named(_) | Changed::Unknown | Changed::Removed => {}
    }
    Some(Violation::Rule(RejectionRule::ProtectedBranch))
}

/// The branch that a command changes.
enum Changed<'a> {
    /// It changes none.
    None,
    /// One that has one of these names.
    Named(Vec<&'a str>),
    /// The branch that the repository is on, which is not known; or that of a push that names none.
    Unsaid,
    /// Its name is not understood.
    Unknown,
    /// One whose name, or whose repository's path, was removed.
    Removed,
}

/// The branch that a command changes. A commit, or a push of HEAD, changes the branch that the
/// repository is on.
fn branch<'a>(session: &'a Session, facts: &'a CommandFacts) -> Changed<'a> {
    let named = facts.branch.as_deref();
    if named.is_some_and(is_removed_name) {
        return Changed::Removed;
    }
    match (facts.kind, named) {
        (CommandKind::Commit, said) => current(session, facts, said),
        (CommandKind::CreateBranch | CommandKind::Push, Some(text)) => match target(text) {
            Target::Ref(name) => Changed::Named(vec![name]),
            Target::Head if facts.kind == CommandKind::Push => current(session, facts, None),
            Target::Unknown if facts.kind == CommandKind::Push && text.is_empty() => {
                Changed::Unsaid
            }
            Target::Head | Target::Unknown => Changed::Unknown,
        },
        _ => Changed::None,
    }
}

/// The branch that a repository is on: the one that the caller says, and the one that the session
/// created there last. Where the path of the repository was removed that a branch was created in,
/// it may have been this one.
fn current<'a>(
    session: &'a Session,
    facts: &'a CommandFacts,
    said: Option<&'a str>,
) -> Changed<'a> {
    let Some(repo) = &facts.repo else {
        return Changed::None;
    };
    let created = session.branches.get(repo).map(String::as_str);
    let is_lost = || session.branches.keys().any(|repo| is_removed_name(repo));
    if is_removed_name(repo)
        || created.is_some_and(is_removed_name)
        || (created.is_none() && is_lost())
    {
        return Changed::Removed;
    }
    let names: Vec<&str> = said.into_iter().chain(created).collect();
    if names.is_empty() {
        return Changed::Unsaid;
    }
    match names.iter().all(|name| is_branch(name)) {
        true => Changed::Named(names),
        false => Changed::Unknown,
    }
}

/// Whether a name was removed that the gate looks at for a command, in it or in what the session
/// knows, so that it cannot be judged again.
pub fn lacks_names(session: &Session, facts: &CommandFacts) -> bool {
    let removed = |name: &Option<String>| name.as_deref().is_some_and(is_removed_name);
    removed(&facts.work_item)
        || removed(&facts.state)
        || removed(&facts.repo) && session.repo.is_some()
        || matches!(branch(session, facts), Changed::Removed)
        || lacks_source(session, facts)
        || lacks_state(session, facts)
}

/// Whether it is not known any more what was checked out, where tests have to be of that.
fn lacks_source(session: &Session, facts: &CommandFacts) -> bool {
    let is_named = |text| !matches!(source(text), Source::Head | Source::Nothing);
    facts.kind == CommandKind::Push
        && facts.branch.as_deref().is_some_and(is_named)
        && matches!(current(session, facts, None), Changed::Removed)
}

/// Whether the state of a command's ticket was removed, or may have been.
fn lacks_state(session: &Session, facts: &CommandFacts) -> bool {
    let (Some(item), Some(_)) = (&facts.work_item, &facts.state) else {
        return false;
    };
    match session.work_items.get(item) {
        Some(state) => is_removed_name(state),
        None => session.work_items.keys().any(|item| is_removed_name(item)),
    }
}

/// Whether a ticket may take the step that a command asks for. From a state that
/// was never read it may take none.
fn may_transition(session: &Session, policy: &PolicyProfile, facts: &CommandFacts) -> bool {
    let (Some(allowed), Some(item), Some(to)) = (
        &policy.allowed_work_item_transitions,
        &facts.work_item,
        &facts.state,
    ) else {
        return true;
    };
    let Some(from) = session.work_items.get(item) else {
        return false;
    };
    let step = format!("{from}->{to}");
    allowed.contains(&step)
}
