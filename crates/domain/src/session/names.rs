//! The names in a session's events: see [`crate::AnyEvent::each_name`].

use super::{
    CommandFacts, CommandKind, Correlation, Event, ItemStatus, PUSH, StoredConfig, StoredPolicy,
};

type Each<'a> = &'a mut dyn FnMut(&mut String);

/// Gives each name of an event to `each`.
pub(crate) fn each_name(event: &mut Event, each: Each<'_>) {
    match event {
        Event::Created(event) => config(&mut event.config, each),
        Event::Adopted(event) => {
            if let Some(adopted) = &mut event.config {
                config(adopted, each);
            }
        }
        Event::ApprovalRequired(event) => actions(&mut event.actions, each),
        Event::Approved(event) => actions(&mut event.actions, each),
        Event::CommandReceived(event) => {
            facts(&mut event.facts, each);
            correlation(&mut event.correlation, each);
        }
        Event::CommandQueued(event) => correlation(&mut event.correlation, each),
        Event::CommandAccepted(event) => correlation(&mut event.correlation, each),
        Event::CommandRejected(event) => {
            if let Some(word) = event.rule.as_mut().and_then(super::RejectionRule::own_word) {
                each(word);
            }
            correlation(&mut event.correlation, each);
        }
        Event::Throttled(event) => correlation(&mut event.correlation, each),
        Event::CommandCompleted(event) => correlation(&mut event.correlation, each),
        Event::ConflictDetected(event) => correlation(&mut event.correlation, each),
        Event::ArtifactAvailable(event) => correlation(&mut event.correlation, each),
        Event::PlanUpdated(event) => {
            event.nodes.iter_mut().for_each(&mut *each);
            correlation(&mut event.correlation, each);
        }
        Event::PlanNodeLinked(event) => each(&mut event.node),
        Event::BacklogQueried(event) => {
            event.items.iter_mut().for_each(|it| item(it, each));
            correlation(&mut event.correlation, each);
        }
        Event::WorkItemQueried(event) => {
            item(&mut event.item, each);
            correlation(&mut event.correlation, each);
        }
        Event::StatusRecorded(event) => correlation(&mut event.correlation, each),
        Event::ForeignRecorded(event) => each(&mut event.kind),
        Event::Paused(_)
        | Event::Resumed(_)
        | Event::ApprovalDenied(_)
        | Event::ApprovalExpired(_)
        | Event::Aborted(_)
        | Event::Completed(_)
        | Event::RunAttached(_)
        | Event::MetadataSet(_)
        | Event::Redacted(_) => {}
    }
}

fn config(config: &mut StoredConfig, each: Each<'_>) {
    config.plan_node.iter_mut().for_each(&mut *each);
    policy(&mut config.policy, each);
    let named = config.repo_path.iter_mut().chain(&mut config.agent);
    named.for_each(&mut *each);
    if let Some(item) = &mut config.work_item {
        each(&mut item.id);
    }
}

fn policy(policy: &mut StoredPolicy, each: Each<'_>) {
    each(&mut policy.name);
    let kinds = policy.whitelist.iter_mut().chain(&mut policy.blacklist);
    kinds.flatten().for_each(|word| kind(word, each));
    policy.protected_branches.iter_mut().for_each(&mut *each);
    let transitions = policy.transitions.iter_mut().flatten();
    transitions.for_each(&mut *each);
    let limits = policy.limits.iter_mut();
    let caps = limits.filter_map(|limits| limits.per_command_caps.as_mut());
    caps.flatten().for_each(|(word, _)| kind(word, each));
}

/// A kind of commands is a word of the contracts. Other systems may have others.
fn kind(word: &mut String, each: Each<'_>) {
    if word.parse::<CommandKind>().is_err() {
        each(word);
    }
}

fn actions(actions: &mut [String], each: Each<'_>) {
    let own = actions.iter_mut().filter(|action| *action != PUSH);
    own.for_each(each);
}

fn facts(facts: &mut CommandFacts, each: Each<'_>) {
    let CommandFacts {
        kind: _,
        repo,
        branch,
        files: _,
        filtered: _,
        work_item,
        state,
        actions: asked,
    } = facts;
    for name in [repo, branch, work_item, state].into_iter().flatten() {
        each(name);
    }
    actions(asked, each);
}

fn correlation(correlation: &mut Correlation, each: Each<'_>) {
    correlation.plan_node.iter_mut().for_each(each);
}

fn item(item: &mut ItemStatus, each: Each<'_>) {
    each(&mut item.id);
    each(&mut item.status);
}
