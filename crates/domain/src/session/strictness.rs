//! A session that another one begins is never freer than that: its policy allows nothing that the other forbids.

use super::refspec::covers;
use super::{CommandKind, PolicyProfile, RateLimits, cap};
use crate::Refusal;
use crate::bucket::Limit;

/// Demands that a policy is at least as strict as that of the parent session.
///
/// # Errors
/// [`Refusal::Invalid`], naming the first field that is freer.
pub(super) fn at_least_as_strict(
    child: &PolicyProfile,
    parent: &PolicyProfile,
) -> Result<(), Refusal> {
    let freer = kinds(child, parent)
        .or_else(|| branches(child, parent))
        .or_else(|| commits_and_pushes(child, parent))
        .or_else(|| transitions(child, parent))
        .or_else(|| rates(child, parent));
    match freer {
        None => Ok(()),
        Some((field, what)) => {
            let reason = format!(
                "{what}: a session is never freer than its parent session, whose profile is {:?}",
                parent.name
            );
            Err(Refusal::invalid(field, reason))
        }
    }
}

/// A field of a policy that is freer, and how.
type Freer = Option<(&'static str, String)>;

fn allows(policy: &PolicyProfile, kind: CommandKind) -> bool {
    let lists = |list: &Vec<String>| list.iter().any(|listed| listed == kind.as_str());
    policy.command_whitelist.as_ref().is_none_or(lists)
        && !policy.command_blacklist.as_ref().is_some_and(lists)
}

fn kinds(child: &PolicyProfile, parent: &PolicyProfile) -> Freer {
    let mut kinds = CommandKind::ALL.iter();
    let kind = kinds.find(|kind| allows(child, **kind) && !allows(parent, **kind))?;
    let field = match parent.command_whitelist {
        Some(_) => "policy.commandWhitelist",
        None => "policy.commandBlacklist",
    };
    Some((field, format!("it allows {kind}")))
}

fn branches(child: &PolicyProfile, parent: &PolicyProfile) -> Freer {
    let is_missing = |pattern: &&String| {
        let mut own = child.protected_branches.iter();
        !own.any(|own| covers(own, pattern))
    };
    let missing = parent.protected_branches.iter().find(is_missing)?;
    Some((
        "policy.protectedBranches",
        format!("it does not protect all that {missing:?} does; list that pattern, too"),
    ))
}

fn commits_and_pushes(child: &PolicyProfile, parent: &PolicyProfile) -> Freer {
    if let Some(most) = parent.max_files_per_commit
        && child.max_files_per_commit.is_none_or(|own| own > most)
    {
        let what = format!("a commit may change more than {most} files");
        return Some(("policy.maxFilesPerCommit", what));
    }
    if parent.require_tests_before_push && !child.require_tests_before_push {
        let what = "it requires no tests before a push".to_owned();
        return Some(("policy.requireTestsBeforePush", what));
    }
    if parent.require_tests_before_push
        && child.filtered_tests_count
        && !parent.filtered_tests_count
    {
        let what = "tests that a filter chose count".to_owned();
        return Some(("policy.filteredTestsCount", what));
    }
    if parent.require_approval_for_push && !child.require_approval_for_push {
        let what = "a push needs no approval".to_owned();
        return Some(("policy.requireApprovalForPush", what));
    }
    None
}

fn transitions(child: &PolicyProfile, parent: &PolicyProfile) -> Freer {
    let field = "policy.allowedWorkItemTransitions";
    let allowed = parent.allowed_work_item_transitions.as_ref()?;
    let Some(own) = &child.allowed_work_item_transitions else {
        return Some((field, "it allows every transition".to_owned()));
    };
    let step = own.iter().find(|step| !allowed.contains(step))?;
    Some((field, format!("it allows {step:?}")))
}

/// How often commands of a kind may be given; absent, any number.
fn limit(policy: &PolicyProfile, kind: CommandKind) -> Option<Limit> {
    let calls = |limits: &RateLimits| {
        let per_minute = limits.calls_per_minute?;
        let capacity = limits.burst.unwrap_or(per_minute);
        Some(Limit {
            capacity,
            per_minute,
        })
    };
    cap(policy, kind).or_else(|| policy.limits.as_ref().and_then(calls))
}

fn rates(child: &PolicyProfile, parent: &PolicyProfile) -> Freer {
    for kind in CommandKind::ALL.iter().filter(|kind| allows(child, **kind)) {
        let Some(most) = limit(parent, *kind) else {
            continue;
        };
        let within =
            |own: Limit| own.capacity <= most.capacity && own.per_minute <= most.per_minute;
        if !limit(child, *kind).is_some_and(within) {
            return Some(("policy.limits", format!("it allows {kind} more often")));
        }
    }
    None
}
