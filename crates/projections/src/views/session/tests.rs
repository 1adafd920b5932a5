//! What the events of a session do to its view.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use annals_domain::session::{
    Adopted, ApplyPatch, ApprovalDenied, Approved, CommandKind, CommandResult, Paused,
    RejectionRule, Resumed, SessionStatus, StoredConfig, Verdict,
};
use annals_domain::{Dialect, Kind, TaskId, is_removed_name, removed_name};
use serde_json::{Value, json};

use super::SessionView;
use crate::testing::session::{
    Telling, accepted, attached, backlog, command, completed, config, created, details,
    kept_elsewhere, linked, node, plan, push, queued, received, rejected, repo, request_approval,
    required, status, summary, work_item,
};
use crate::testing::{Story, fold, id, redacted, time};
use crate::{ObjectView, Removable, Text, View};

fn begun() -> Telling {
    let mut story = Telling::of(1);
    story.tell(|pieces| created(&config(1, None), pieces));
    story
}

fn patch() -> ApplyPatch {
    ApplyPatch::new(repo(), "--- a")
}

fn view(story: &Telling) -> SessionView {
    let object = Story::of(&story.events).view(Kind::Session, id(1));
    SessionView::from_object(object.unwrap()).unwrap()
}

/// The view as it would be without any content.
fn bare(story: &Telling) -> SessionView {
    let story = Story::of(&story.events);
    let entries: Vec<_> = story
        .records()
        .iter()
        .map(|record| story.entry(&redacted(record, |_| true)))
        .collect();
    let object = fold(Kind::Session, id(1), &entries);
    SessionView::from_object(object.unwrap()).unwrap()
}

fn shown(view: &SessionView) -> Value {
    serde_json::to_value(ObjectView::from(view.clone())).unwrap()
}

#[test]
fn it_says_who_is_asked_for_what_and_what_waits() {
    let mut story = begun();
    story.tell(|pieces| received(2, push("one"), pieces));
    story.tell(|_| queued(2));
    story.tell(|_| required(2, &["Push"], false));
    story.tell(|pieces| received(3, push("two"), pieces));
    story.tell(|_| queued(3));
    story.accept(4, request_approval());
    story.tell(|_| required(4, &["deploy"], true));
    let asked = view(&story);
    assert_eq!(asked.status(), SessionStatus::NeedsApproval);
    let json = shown(&asked);
    assert_eq!(json["status"], "needs_approval");
    let until = "2026-01-02T03:20:45Z";
    let expected = json!([
        { "request": id(2), "actions": ["Push"], "explicit": false,
          "asked_at": time(4), "expires_at": until },
        { "request": id(4), "actions": ["deploy"], "explicit": true, "reason": "the release",
          "asked_at": time(9), "expires_at": until },
    ]);
    assert_eq!(json["pending_approvals"], expected);
    let expected = json!([
        { "id": id(2), "kind": "Push", "branch": "one", "queued_at": time(3) },
        { "id": id(3), "kind": "Push", "branch": "two", "queued_at": time(6) },
    ]);
    assert_eq!(json["queue"], expected);
    let expected = json!([{ "id": id(4), "kind": "RequestApproval", "accepted_at": time(8) }]);
    assert_eq!(json["open_commands"], expected);
    let removed = bare(&story).pending_approvals();
    assert_eq!(removed[1].reason, Some(Text::Removed));

    // A request that is still open dates from the first time.
    story.tell(|_| Approved {
        request: Some(command(2)),
        actions: vec!["Push".into()],
        reason: None,
    });
    story.tell(|_| accepted(2));
    story.tell(|pieces| rejected(3, Some(RejectionRule::ProtectedBranch), pieces));
    story.tell(|_| required(4, &["deploy"], true));
    let approved = view(&story);
    assert_eq!(approved.granted_actions(), ["Push"]);
    assert_eq!(approved.queue(), []);
    let pending = approved.pending_approvals();
    assert_eq!(
        (pending.len(), pending[0].asked_at),
        (1, Some(time(9))),
        "{pending:?}"
    );
    assert_eq!(pending[0].reason, Some(Text::from("the release")));

    story.tell(|pieces| ApprovalDenied {
        request: Some(command(4)),
        reason: pieces.text("not today"),
    });
    let denied = view(&story);
    assert_eq!(denied.status(), SessionStatus::Running);
    assert_eq!(denied.reason, Some(Text::from("not today")));
    assert_eq!(denied.pending_approvals(), []);
    let open: Vec<_> = denied.open_commands().iter().map(|open| open.id).collect();
    assert_eq!(open, [command(4), command(2)], "the oldest first");
}

#[test]
fn the_reason_is_that_of_the_last_change() {
    let mut story = begun();
    let says = |story: &Telling, expected: Option<&str>| {
        assert_eq!(view(story).reason, expected.map(Text::from));
    };
    says(&story, None);
    story.tell(|pieces| Paused {
        reason: Some(pieces.text("lunch")),
        failures: None,
    });
    says(&story, Some("lunch"));
    story.tell(|_| Resumed { reason: None });
    says(&story, None);
    for number in 2..5 {
        story.accept(number, patch());
        story.complete(number, CommandResult::Failure);
    }
    assert_eq!(view(&story).failures(), 3);
    story.tell(|_| Paused {
        reason: None,
        failures: Some(3),
    });
    says(&story, Some("3 failures in a row"));
    assert_eq!(shown(&view(&story))["status"], "paused");
    story.tell(|pieces| status(SessionStatus::Completed, pieces));
    says(&story, Some("it says so"));
}

#[test]
fn the_last_commands_are_shown_and_all_are_counted() {
    let mut story = begun();
    story.tell(|pieces| received(10, push("feature"), pieces));
    story.tell(|_| queued(10));
    for number in 11..34 {
        story.accept(number, patch());
    }
    story.complete(33, CommandResult::Success);
    // These were given too long ago.
    story.complete(11, CommandResult::Failure);
    story.tell(|pieces| rejected(10, Some(RejectionRule::ApprovalDenied), pieces));
    let view = view(&story);
    let shown: Vec<_> = view.last_commands().map(|command| command.id).collect();
    let expected: Vec<_> = (14..34).map(command).collect();
    assert_eq!(shown, expected);
    assert_eq!(view.earlier_commands(), 4);
    let last = view.last_commands().last().unwrap();
    assert_eq!(last.kind, Some(CommandKind::ApplyPatch));
    assert_eq!(last.verdict, Some(Verdict::Accepted));
    let outcome = last.outcome.as_ref().unwrap();
    assert_eq!(outcome.result, CommandResult::Success);
    assert_eq!(outcome.message, Some(Text::from("that is that")));
    let counts = view.counts();
    assert_eq!((counts.commands, counts.accepted), (24, 23));
    assert_eq!((counts.completed, counts.failed), (1, 1));
    assert_eq!(counts.rejected, 1);
    assert_eq!(counts.rejected_by_rule["Approval denied"], 1);
}

#[test]
fn a_node_keeps_its_task_when_the_plan_is_replaced() {
    let mut story = begun();
    story.tell(|pieces| plan(vec![node("a", &[]), node("b", &["a"])], pieces));
    story.tell(|_| linked("a", 40));
    story.tell(|_| linked("b", 41));
    story.tell(|pieces| plan(vec![node("b", &[]), node("c", &["b"])], pieces));
    let nodes = |story: &Telling| -> Vec<(String, Option<TaskId>)> {
        let nodes = view(story).plan.nodes();
        nodes.into_iter().map(|node| (node.id, node.task)).collect()
    };
    let b = ("b".to_owned(), Some(TaskId(id(41))));
    assert_eq!(nodes(&story), [b.clone(), ("c".to_owned(), None)]);
    story.tell(|_| linked("b", 42));
    assert_eq!(nodes(&story)[0].1, Some(TaskId(id(42))));
    let bare = bare(&story);
    assert_eq!(bare.plan.content(), Some(&Removable::Removed));
    let nodes = bare.plan.nodes();
    assert_eq!(nodes.len(), 2);
    assert!(nodes.iter().all(|node| is_removed_name(&node.id)));
}

#[test]
fn nodes_are_ready_when_all_that_they_depend_on_is_done() {
    let mut story = begun();
    let nodes = vec![
        node("d", &["b", "c"]),
        node("c", &["a"]),
        node("b", &["a"]),
        node("a", &[]),
    ];
    assert!(view(&story).ready_nodes(|_| true).is_empty(), "no plan");
    story.tell(|pieces| plan(nodes, pieces));
    for (node, task) in [("a", 40), ("b", 41), ("c", 42)] {
        story.tell(|_| linked(node, task));
    }
    let session = view(&story);
    let ready = |done: &[u8]| -> Vec<String> {
        let done: Vec<TaskId> = done.iter().map(|task| TaskId(id(*task))).collect();
        let nodes = session.ready_nodes(|task| done.contains(&task));
        nodes.into_iter().map(|node| node.id.clone()).collect()
    };
    assert_eq!(ready(&[]), ["a"]);
    assert_eq!(ready(&[40]), ["c", "b"], "in the plan's order");
    assert_eq!(ready(&[40, 41]), ["c"]);
    assert_eq!(ready(&[40, 41, 42]), ["d"], "which has no task yet");
    assert_eq!(
        ready(&[41, 42]),
        ["d", "a"],
        "in any order that they were done in"
    );
    assert!(bare(&story).ready_nodes(|_| true).is_empty());
    // A removed link is of any node that has none: whether that is done is not known.
    let mut lost = begun();
    lost.tell(|pieces| plan(vec![node("a", &[]), node("b", &[])], pieces));
    lost.tell(|_| linked("a", 40));
    lost.tell(|_| linked(&removed_name(&[7; 32], 0), 41));
    let ready = |done: &[TaskId]| -> Vec<String> {
        let session = view(&lost);
        let nodes = session.ready_nodes(|task| done.contains(&task));
        nodes.into_iter().map(|node| node.id.clone()).collect()
    };
    assert_eq!(ready(&[]), ["a"]);
    assert_eq!(ready(&[TaskId(id(40))]), [""; 0]);

    // What another system planned need not make sense.
    story.tell(|pieces| plan(vec![node("x", &["nowhere"]), node("y", &["y"])], pieces));
    assert!(view(&story).ready_nodes(|_| true).is_empty());
}

#[test]
fn the_run_that_goes_on_is_the_last_one() {
    let mut story = begun();
    for run in [30, 31, 32, 30] {
        story.tell(|_| attached(run));
    }
    let expected = [31, 32, 30].map(|run| id(run).into());
    assert_eq!(view(&story).runs, expected);
}

#[test]
fn a_ticket_is_shown_as_it_was_read_last_and_keeps_its_details() {
    let mut story = begun();
    story.tell(|pieces| work_item(&details("ANN-1", "one in detail"), pieces));
    let (read, pieces) = backlog(&[summary("ANN-2", "two"), summary("ANN-1", "one, renamed")]);
    story.tell_with(read, pieces);
    let session = view(&story);
    let one = &session.work_items["ANN-1"];
    assert_eq!(
        (one.title.as_str(), one.status.as_str()),
        (Some("one, renamed"), "Open")
    );
    assert_eq!((one.position.0, one.as_of), (3, time(3)));
    let told = one.details.as_ref().unwrap();
    assert_eq!(told.description.as_str(), Some("what ANN-1 is about"));
    assert_eq!((told.position.0, told.as_of), (2, time(2)));
    assert_eq!(session.work_items["ANN-2"].details, None);

    let bare = bare(&story);
    assert_eq!(
        bare.work_items.len(),
        3,
        "it is not known which are the same"
    );
    for (id, item) in &bare.work_items {
        assert!(is_removed_name(id) && is_removed_name(&item.status));
        assert_eq!(
            (&item.title, &item.assignee),
            (&Text::Removed, &Removable::Removed)
        );
    }
}

#[test]
fn what_another_system_kept_is_shown_as_far_as_it_goes() {
    let mut story = Telling::of(1);
    story.events = kept_elsewhere();
    let kept = view(&story);
    assert_eq!(kept.status(), SessionStatus::Paused);
    assert_eq!(kept.config, None);
    assert_eq!(kept.approval_expiry_seconds(), None);
    assert_eq!((kept.counts().commands, kept.counts().accepted), (0, 1));
    let kinds: Vec<_> = kept.last_commands().map(|command| command.kind).collect();
    assert_eq!(kinds, [None, None], "its commands were not recorded");

    // More of it may come later, and changes nothing but that.
    story.tell(|pieces| Adopted {
        dialect: Dialect::Contracts,
        config: Some(StoredConfig::store(&config(1, Some(2)), pieces)),
    });
    let more = view(&story);
    assert_eq!(more.status(), SessionStatus::Paused);
    assert_eq!(more.reason, kept.reason);
    assert_eq!(more.counts(), kept.counts());
    let configured = more.config.unwrap();
    assert_eq!(configured.parent, Some(id(2).into()));
    assert_eq!(configured.policy.name, "strict");
    story.tell(|_| Adopted {
        dialect: Dialect::Contracts,
        config: None,
    });
    assert_eq!(view(&story).config, Some(configured));
}

/// Nothing that was recorded can be so odd that there is no view.
#[test]
fn a_command_may_end_that_was_never_given() {
    let mut story = begun();
    story.tell(|pieces| completed(2, CommandResult::Failure, pieces));
    story.tell(|_| queued(3));
    let view = view(&story);
    let ids: Vec<_> = view.last_commands().map(|command| command.id).collect();
    assert_eq!(ids, [command(2), command(3)]);
    assert_eq!((view.queue(), view.open_commands()), (vec![], vec![]));
}
