//! The gate: what becomes of a command, by the session's state and policy.
//!
//! A pure function, so that what was judged can be judged again, also under
//! another policy. The order of its questions and its words are those of the
//! contracts (document 003).

use super::{
    CommandFacts, CommandKind, PolicyProfile, RejectionRule, Session, SessionStatus, TokenSource,
};
use crate::bucket::{Level, Limit};
use crate::{Refusal, Timestamp, is_removed_name};

/// The scope that throttled commands are told.
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

/// The cap on a kind of commands, if the policy has one.
pub fn cap(policy: &PolicyProfile, kind: CommandKind) -> Option<Limit> {
    let caps = policy.limits.as_ref()?.per_command_caps.as_ref()?;
    let cap = *caps.get(kind.as_str())?;
    Some(Limit {
        capacity: cap,
        per_minute: cap,
    })
}

/// Judges a command. `shared` is what is in the bucket of its kind, where the
/// policy has a cap on that ([`cap`]).
///
/// # Errors
/// [`Refusal::Invalid`], if nobody knows the session's policy.
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
    if let Some(rule) = violated(session, policy, facts) {
        return Judgement::Rejected {
            reason: POLICY_VIOLATION.to_owned(),
            rule: Some(rule),
        };
    }
    if needs_approval(session, policy, facts.kind) {
        return Judgement::Queued;
    }
    let (limit, level, token) = match (cap(policy, facts.kind), session.limit()) {
        (Some(cap), _) => (cap, shared, TokenSource::Shared),
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
    if policy.names().any(is_removed_name) {
        let reason = "names in its policy were removed by a redaction, so that nothing can be judged \
                      in it; create a session to go on";
        return Err(Refusal::invalid("session", reason));
    }
    Ok(policy)
}

/// Whether a command must wait for an approval that nobody has given yet.
pub fn needs_approval(session: &Session, policy: &PolicyProfile, kind: CommandKind) -> bool {
    kind == CommandKind::Push && policy.require_approval_for_push && !session.granted.contains(PUSH)
}

/// The first rule of the policy that a command breaks.
pub fn violated(
    session: &Session,
    policy: &PolicyProfile,
    facts: &CommandFacts,
) -> Option<RejectionRule> {
    let kind = facts.kind.as_str();
    let lists = |list: &Vec<String>| list.iter().any(|listed| listed == kind);
    if policy
        .command_whitelist
        .as_ref()
        .is_some_and(|list| !lists(list))
    {
        return Some(RejectionRule::NotInWhitelist);
    }
    if policy.command_blacklist.as_ref().is_some_and(lists) {
        return Some(RejectionRule::InBlacklist);
    }
    if may_be_protected(session, policy, facts) {
        return Some(RejectionRule::ProtectedBranch);
    }
    if let (Some(files), Some(most)) = (facts.files, policy.max_files_per_commit)
        && files > most
    {
        return Some(RejectionRule::TooManyFiles);
    }
    let untested = session.tested != Some(session.changes);
    if facts.kind == CommandKind::Push && policy.require_tests_before_push && untested {
        return Some(RejectionRule::TestsRequired);
    }
    if !may_transition(session, policy, facts) {
        return Some(RejectionRule::TransitionNotAllowed);
    }
    None
}

/// Whether a command changes a branch that is protected, or that may be: a name that was removed
/// can be any.
fn may_be_protected(session: &Session, policy: &PolicyProfile, facts: &CommandFacts) -> bool {
    match branch(session, facts) {
        Changed::Named(branch) => is_protected(policy, branch),
        Changed::Removed => !policy.protected_branches.is_empty(),
        Changed::None => false,
    }
}

/// The branch that a command changes.
enum Changed<'a> {
    /// None, or none that the session knows.
    None,
    Named(&'a str),
    /// One whose name, or whose repository's path, was removed.
    Removed,
}

/// The branch that a command changes, where it is known: a commit goes to the
/// branch that was created last in its repository. Where the path of the repository was removed
/// that a branch was created in, it may have been this one.
fn branch<'a>(session: &'a Session, facts: &'a CommandFacts) -> Changed<'a> {
    let named = match facts.kind {
        CommandKind::CreateBranch | CommandKind::Push => facts.branch.as_deref(),
        CommandKind::Commit => {
            let Some(repo) = &facts.repo else {
                return Changed::None;
            };
            let known = session.branches.get(repo).map(String::as_str);
            let is_lost = || session.branches.keys().any(|repo| is_removed_name(repo));
            if is_removed_name(repo) || (known.is_none() && is_lost()) {
                return Changed::Removed;
            }
            known
        }
        _ => None,
    };
    match named {
        None => Changed::None,
        Some(name) if is_removed_name(name) => Changed::Removed,
        Some(name) => Changed::Named(name),
    }
}

/// Whether a name was removed that the gate looks at for a command, in it or in what the session
/// knows, so that nobody can judge it again.
pub fn lacks_names(session: &Session, facts: &CommandFacts) -> bool {
    let removed = |name: &Option<String>| name.as_deref().is_some_and(is_removed_name);
    removed(&facts.work_item)
        || removed(&facts.state)
        || matches!(branch(session, facts), Changed::Removed)
        || lacks_state(session, facts)
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

/// Whether a branch is protected, by its short or its full name.
fn is_protected(policy: &PolicyProfile, branch: &str) -> bool {
    let short = |name: &str| name.strip_prefix("refs/heads/").unwrap_or(name).to_owned();
    let branch = short(branch);
    policy
        .protected_branches
        .iter()
        .any(|protected| short(protected) == branch)
}

/// Whether a ticket may take the step that a command asks for. From a state that
/// nobody has read it may take none.
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
