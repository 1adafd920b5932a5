//! What adapters say of accepted commands: their end, conflicts, artifacts,
//! tickets; the session's run; and the pause after failures.

use super::*;
use crate::run::{CreateRun, FailRun};
use crate::task::CreateTask;
use crate::testing::texts;
use crate::{Kind, RunId, TaskId};

const RUN: RunId = RunId(Uuid::from_u128(50));
const OTHER_RUN: RunId = RunId(Uuid::from_u128(51));
const TASK: TaskId = TaskId(Uuid::from_u128(52));

fn conflict(number: u128) -> RecordConflict {
    RecordConflict {
        session: SESSION,
        id: id(number),
        repo: repo("/app"),
        details: "both changed a.rs".into(),
        patch_content: Some("-a\n+b\n".into()),
    }
}

fn artifact(number: u128) -> RecordArtifact {
    RecordArtifact {
        session: SESSION,
        id: Some(id(number)),
        artifact: Artifact {
            kind: ArtifactKind::Diff,
            name: "a.diff".into(),
            inline_text: Some("-a\n+b\n".into()),
            path_hint: Some("out/a.diff".into()),
            download_uri: Some("https://example.org/a".into()),
            content_type: Some("text/x-diff".into()),
        },
    }
}

fn backlog(number: u128, tickets: usize) -> RecordBacklog {
    let item = |number: usize| WorkItemSummary {
        id: format!("A-{number}"),
        title: "work".into(),
        status: "Open".into(),
        assignee: None,
    };
    RecordBacklog {
        session: SESSION,
        id: id(number),
        items: (0..tickets).map(item).collect(),
    }
}

fn work_item(number: u128) -> RecordWorkItem {
    RecordWorkItem {
        session: SESSION,
        id: id(number),
        details: WorkItemDetails {
            id: "A-1".into(),
            title: "work".into(),
            description: "all of it".into(),
            status: "Open".into(),
            assignee: None,
            tags: vec![],
        },
    }
}

/// What is taken of a command only until it has ended.
fn results(number: u128) -> [Command; 4] {
    [
        succeeds(number).into(),
        conflict(number).into(),
        backlog(number, 1).into(),
        work_item(number).into(),
    ]
}

fn query_work_item() -> QueryWorkItem {
    QueryWorkItem {
        item: ticket("A-1"),
    }
}

/// A command that each of these results may be of.
fn asking_for(result: usize) -> CommandBody {
    match result {
        0 => get_diff(),
        1 => push("a"),
        2 => query_backlog(),
        _ => query_work_item().into(),
    }
}

/// A session in which command 1 was accepted.
fn open() -> Stage {
    Stage::under(anything()).after(submit(1, get_diff()))
}

// Only for a command that was accepted and has not ended.

#[test]
fn results_are_recorded_of_an_accepted_command() {
    let mut stage = open()
        .after(submit(2, push("a")))
        .after(submit(3, query_backlog()))
        .after(submit(4, query_work_item()));
    assert_eq!(stage.when(conflict(2)), ["conflict: both changed a.rs"]);
    assert_eq!(stage.when(artifact(1)), ["Diff a.diff"]);
    assert_eq!(stage.when(backlog(3, 2)), ["2 tickets, more: false"]);
    assert_eq!(stage.when(work_item(4)), ["A-1 is Open"]);
    assert_eq!(stage.when(succeeds(1)), ["1 Success"]);
}

/// Else an agent could report a ticket's state as the result of anything, and a transition would be allowed.
#[test]
fn results_are_those_of_their_kind_of_command() {
    let bodies = [
        create_branch("a"),
        apply_patch(),
        run_tests(),
        commit(1),
        push("a"),
        get_diff(),
        transition("A-1", "Done"),
        query_backlog(),
        query_work_item().into(),
    ];
    for body in bodies {
        let kind = body.kind();
        let stage = Stage::under(anything()).after(submit(1, body));
        let check = |command: Command, kinds: &[CommandKind]| {
            if kinds.contains(&kind) {
                assert!(stage.given.decide(command).is_ok(), "{kind}");
            } else {
                stage.check_invalid(command, "id", "is the result of");
            }
        };
        use CommandKind::{ApplyPatch, Commit, CreateBranch, Push, QueryBacklog, QueryWorkItem};
        check(
            conflict(1).into(),
            &[CreateBranch, ApplyPatch, Commit, Push],
        );
        check(backlog(1, 1).into(), &[QueryBacklog]);
        check(work_item(1).into(), &[QueryWorkItem]);
    }
    let stage = Stage::under(anything()).after(submit(1, query_work_item()));
    let mut other = work_item(1);
    other.details.id = "A-2".into();
    stage.check_invalid(other, "details.id", "asked for another ticket");
    let stage = Stage::under(anything()).after(submit(1, push("a")));
    let elsewhere = RecordConflict {
        repo: repo("/lib"),
        ..conflict(1)
    };
    stage.check_invalid(elsewhere, "repo.path", "another repository");
}

#[test]
fn each_is_for_an_accepted_not_yet_completed_command_only() {
    let guarded = PolicyProfile {
        require_approval_for_push: true,
        command_blacklist: Some(words(&["Comment"])),
        limits: Some(RateLimits {
            calls_per_minute: Some(0),
            burst: Some(1),
            ..RateLimits::default()
        }),
        ..anything()
    };
    let comment = Comment {
        item: ticket("A-1"),
        body: "fine".into(),
    };
    let stage = Stage::under(guarded)
        .after(submit(1, get_diff()))
        .after(succeeds(1))
        .after(submit(2, push("a")))
        .after(submit(3, comment))
        .after(submit(4, get_diff()));
    let session = stage.session();
    assert_eq!((session.open.len(), session.queue.len()), (0, 1));
    // Ended, waiting, rejected, throttled, never given.
    for number in 1..=5 {
        for command in results(number) {
            let says = "expected one that was accepted and has not ended";
            stage.check_invalid(command, "id", says);
        }
        if number > 1 {
            let says = "is not a known command of this session";
            stage.check_invalid(artifact(number), "id", says);
        }
    }
}

#[test]
fn artifacts_are_recorded_after_a_commands_end_and_of_no_command() {
    let command = SubmitCommand {
        parent: Some(id(7)),
        ..submit(1, get_diff())
    };
    let mut stage = Stage::under(anything()).after(command).after(fails(1));
    let belongs = |stage: &mut Stage, command: RecordArtifact| {
        let emitted = stage.given.execute(command);
        match emitted.into_iter().next().map(|one| one.event) {
            Some(AnyEvent::Session(Event::ArtifactAvailable(event))) => event.correlation,
            other => panic!("{other:?}"),
        }
    };
    let of_command = Correlation {
        command: Some(id(1)),
        parent: Some(id(7)),
        plan_node: None,
    };
    assert_eq!(belongs(&mut stage, artifact(1)), of_command);
    let of_session = RecordArtifact {
        id: None,
        ..artifact(1)
    };
    assert_eq!(
        belongs(&mut stage, of_session.clone()),
        Correlation::default()
    );
    // The session may be over, too.
    let mut stage = stage.after(complete());
    assert_eq!(belongs(&mut stage, of_session), Correlation::default());
}

#[test]
fn so_many_commands_are_remembered_after_their_end() {
    let mut stage = Stage::under(anything());
    for number in 1..=LAST_ENDED as u128 + 1 {
        stage = stage
            .after(submit(number, get_diff()))
            .after(succeeds(number));
    }
    stage.check_invalid(artifact(1), "id", "among the last 256 that did");
    assert_eq!(stage.when(artifact(2)), ["Diff a.diff"]);
}

#[test]
fn a_command_ends_once() {
    let mut stage = open();
    let failed = CompleteCommand {
        message: Some("no such ref".into()),
        error_code: Some("128".into()),
        ..fails(1)
    };
    let emitted = stage.given.execute(failed);
    assert_eq!(said(&emitted), ["1 Failure"]);
    assert_eq!(texts(&emitted), [["no such ref", "128"]]);
    stage.check_invalid(succeeds(1), "id", "has not ended");
}

#[test]
fn a_command_of_another_session_is_none_of_this_one() {
    let other = SessionId(Uuid::from_u128(2));
    let stage = open().after(create(other, anything()));
    let of_other = CompleteCommand {
        session: other,
        ..succeeds(1)
    };
    stage.check_invalid(of_other, "id", "has not ended");
}

/// An adapter may still be at work when a user pauses or ends the session.
#[test]
fn what_was_accepted_may_end_whatever_became_of_the_session() {
    let ends: [Command; 3] = [pause().into(), abort().into(), complete().into()];
    for end in ends {
        let mut stage = open().after(end);
        let status = stage.status();
        assert_eq!(stage.when(succeeds(1)), ["1 Success"]);
        assert_eq!(stage.status(), status);
    }
}

#[test]
fn results_belong_to_what_their_command_belongs_to() {
    let given = |result: usize| {
        let command = SubmitCommand {
            parent: Some(id(7)),
            plan_node: Some("build".into()),
            ..submit(1, asking_for(result))
        };
        Stage::under(anything()).after(command)
    };
    let belongs = Correlation {
        command: Some(id(1)),
        parent: Some(id(7)),
        plan_node: Some("build".into()),
    };
    for (result, command) in results(1).into_iter().enumerate() {
        let emitted = given(result).given.decide(command).unwrap();
        let correlation = match &emitted[0].event {
            AnyEvent::Session(Event::CommandCompleted(event)) => &event.correlation,
            AnyEvent::Session(Event::ConflictDetected(event)) => &event.correlation,
            AnyEvent::Session(Event::ArtifactAvailable(event)) => &event.correlation,
            AnyEvent::Session(Event::BacklogQueried(event)) => &event.correlation,
            AnyEvent::Session(Event::WorkItemQueried(event)) => &event.correlation,
            other => panic!("{other:?}"),
        };
        assert_eq!(*correlation, belongs);
    }
}

#[test]
fn an_artifacts_texts_are_content() {
    let emitted = open().given.decide(artifact(1)).unwrap();
    let expected = [
        "a.diff",
        "-a\n+b\n",
        "out/a.diff",
        "https://example.org/a",
        "text/x-diff",
    ];
    assert_eq!(texts(&emitted), [expected]);
}

#[test]
fn a_long_backlog_goes_on_in_further_events() {
    let stage = Stage::under(anything()).after(submit(1, query_backlog()));
    let emitted = stage.given.decide(backlog(1, 10_000)).unwrap();
    let mut read = Vec::new();
    let last = emitted.len() - 1;
    assert!(last > 0, "one event holds them all");
    for (place, one) in emitted.iter().enumerate() {
        let AnyEvent::Session(Event::BacklogQueried(event)) = &one.event else {
            panic!("{:?}", one.event);
        };
        assert_eq!(event.more, place < last);
        let bytes: usize = event
            .items
            .iter()
            .map(|i| i.id.len() + i.status.len())
            .sum();
        assert!(bytes <= 32 * 1024, "{bytes} bytes");
        let rows: Vec<WorkItemSummary> =
            serde_json::from_slice(&one.pieces.list()[0].bytes).unwrap();
        let ids = rows.iter().map(|row| &row.id);
        assert!(ids.eq(event.items.iter().map(|item| &item.id)));
        read.extend(rows);
    }
    assert_eq!(read, backlog(1, 10_000).items);
    assert_eq!(
        said(&stage.given.decide(backlog(1, 0)).unwrap()),
        ["0 tickets, more: false"]
    );
}

// The session's run.

fn with_runs() -> Stage {
    let run = |run| CreateRun {
        id: Some(run),
        ..CreateRun::new(TASK)
    };
    let task = CreateTask {
        id: Some(TASK),
        ..CreateTask::new("work")
    };
    open().after(task).after(run(RUN)).after(run(OTHER_RUN))
}

fn attach(run: RunId) -> AttachRun {
    AttachRun {
        session: SESSION,
        run,
    }
}

fn end_run(run: RunId) -> FailRun {
    FailRun {
        run,
        error: "no disk".into(),
    }
}

#[test]
fn accepted_and_completed_are_one_tool_invocation_of_the_current_run() {
    let mut stage = with_runs().after(attach(RUN)).after(submit(2, push("a")));
    stage.at_millis(1_250);
    let done = CompleteCommand {
        message: Some("three files".into()),
        ..succeeds(1)
    };
    let emitted = stage.given.execute(done);
    assert_eq!(said(&emitted), ["1 Success", "tool GetDiff: ok"]);
    let AnyEvent::Run(run::Event::ToolInvoked(invoked)) = &emitted[1].event else {
        panic!("{:?}", emitted[1].event);
    };
    assert_eq!(emitted[1].stream.id, RUN.0);
    assert_eq!(invoked.tool_invocation, invocation_of(SESSION, id(1)));
    assert_eq!(invoked.duration_ms, Some(1_250));
    let args = format!(r#"{{"command":"{}","session":"{}"}}"#, id(1), SESSION);
    assert_eq!(
        texts(&emitted)[1],
        ["GetDiff", args.as_str(), "three files"]
    );

    let failed = CompleteCommand {
        message: Some("denied".into()),
        error_code: Some("403".into()),
        ..fails(2)
    };
    let emitted = stage.given.execute(failed);
    assert_eq!(said(&emitted), ["2 Failure", "tool Push: error"]);
    assert_eq!(texts(&emitted)[1][2], "403: denied");
}

#[test]
fn each_command_is_an_invocation_of_its_own() {
    let other = SessionId(Uuid::from_u128(2));
    let all = [
        invocation_of(SESSION, id(1)),
        invocation_of(SESSION, id(2)),
        invocation_of(other, id(1)),
    ];
    assert!(all[0] != all[1] && all[0] != all[2] && all[1] != all[2]);
}

#[test]
fn nothing_rejected_or_throttled_is_a_tool_invocation() {
    let policy = PolicyProfile {
        command_blacklist: Some(words(&["Push"])),
        limits: Some(RateLimits {
            calls_per_minute: Some(0),
            ..RateLimits::default()
        }),
        ..anything()
    };
    let mut stage = Stage::under(policy)
        .after(CreateTask {
            id: Some(TASK),
            ..CreateTask::new("work")
        })
        .after(CreateRun {
            id: Some(RUN),
            ..CreateRun::new(TASK)
        })
        .after(attach(RUN));
    let rejected = stage.when(submit(2, push("a")));
    let throttled = stage.when(submit(3, get_diff()));
    for lines in [&rejected, &throttled] {
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| !line.starts_with("tool")));
    }
    for number in [2, 3] {
        stage.check_invalid(succeeds(number), "id", "not an open command");
    }
}

#[test]
fn without_a_run_or_once_it_has_ended_a_command_is_none() {
    let mut none = with_runs();
    assert_eq!(none.when(succeeds(1)), ["1 Success"]);
    let mut ended = with_runs().after(attach(RUN)).after(end_run(RUN));
    assert_eq!(ended.when(succeeds(1)), ["1 Success"]);
}

#[test]
fn a_command_is_one_of_the_run_that_goes_on_when_it_ends() {
    let mut stage = with_runs().after(attach(RUN)).after(attach(OTHER_RUN));
    let emitted = stage.given.execute(succeeds(1));
    assert_eq!(emitted[1].stream.id, OTHER_RUN.0);
}

#[test]
fn a_command_that_took_less_than_no_time_has_no_duration() {
    let mut stage = Stage::under(anything());
    stage.at(10).when(submit(1, get_diff()));
    stage.at(9);
    let mut stage = Stage {
        given: stage
            .given
            .command(CreateTask {
                id: Some(TASK),
                ..CreateTask::new("work")
            })
            .command(CreateRun {
                id: Some(RUN),
                ..CreateRun::new(TASK)
            }),
    }
    .after(attach(RUN));
    let emitted = stage.given.execute(succeeds(1));
    let AnyEvent::Run(run::Event::ToolInvoked(invoked)) = &emitted[1].event else {
        panic!("{:?}", emitted[1].event);
    };
    assert_eq!(invoked.duration_ms, None);
}

#[test]
fn a_conflict_is_evidence_of_kind_rebase_in_the_current_run() {
    let mut stage = with_runs().after(attach(RUN)).after(submit(2, push("a")));
    assert_eq!(
        stage.when(conflict(2)),
        [
            "conflict: both changed a.rs",
            "evidence rebase by Push: both changed a.rs"
        ]
    );
    let mut ended = stage.after(end_run(RUN));
    assert_eq!(ended.when(conflict(2)), ["conflict: both changed a.rs"]);
}

#[test]
fn a_run_that_is_attached_is_there_and_has_not_ended() {
    let mut stage = with_runs();
    assert_eq!(stage.when(attach(RUN)), ["run attached"]);
    assert!(stage.when(attach(RUN)).is_empty(), "it is attached already");
    let missing = Refusal::NotFound {
        kind: Kind::Run,
        id: Uuid::from_u128(99),
    };
    assert_eq!(stage.refusal(attach(RunId(Uuid::from_u128(99)))), missing);
    let ended = stage.clone().after(end_run(OTHER_RUN));
    let refused = ended.allowed_when(attach(OTHER_RUN));
    assert_eq!(
        refused,
        ("failed".to_owned(), "created, patching or validating")
    );
    let over = stage.after(complete());
    let refused = over.allowed_when(attach(OTHER_RUN));
    assert_eq!(
        refused,
        ("Completed".to_owned(), "not yet Completed or Error")
    );
}

// The pause after failures.

fn failing(pause_after_failures: Option<u32>) -> Stage {
    let mut stage = Stage::of(CreateSession {
        pause_after_failures,
        ..create(SESSION, anything())
    });
    for number in 1..=9 {
        stage.when(submit(number, get_diff()));
    }
    stage
}

#[test]
fn a_session_pauses_after_three_failures_in_a_row_unless_it_says_otherwise() {
    assert_eq!(PAUSE_AFTER_FAILURES, 3);
    let mut stage = failing(None).after(fails(1)).after(fails(2));
    assert_eq!(stage.status(), SessionStatus::Running);
    assert_eq!(stage.when(fails(3)), ["3 Failure", "paused after 3"]);
    assert_eq!(stage.status(), SessionStatus::Paused);
    assert_eq!(stage.verdict(get_diff()), "Session is paused");
    let mut once = failing(Some(1));
    assert_eq!(once.when(fails(1)), ["1 Failure", "paused after 1"]);
}

#[test]
fn with_0_it_never_pauses() {
    let mut stage = failing(Some(0));
    for number in 1..=9 {
        assert_eq!(stage.when(fails(number)).len(), 1);
    }
    assert_eq!(stage.status(), SessionStatus::Running);
}

#[test]
fn a_success_begins_the_count_anew() {
    let mut stage = failing(Some(2))
        .after(fails(1))
        .after(succeeds(2))
        .after(fails(3));
    assert_eq!(stage.status(), SessionStatus::Running);
    assert_eq!(stage.when(fails(4)), ["4 Failure", "paused after 2"]);
}

#[test]
fn failures_pause_a_session_that_asks_and_none_that_is_paused_or_over() {
    let mut stage = failing(Some(2)).after(submit(20, request_approval(&["x"])));
    stage.when(fails(1));
    assert_eq!(stage.status(), SessionStatus::NeedsApproval);
    assert_eq!(stage.when(fails(2)), ["2 Failure", "paused after 2"]);
    assert_eq!(stage.status(), SessionStatus::Paused);
    // It is paused already, and an approval does not resume it; and then it is over.
    assert_eq!(stage.when(fails(3)), ["3 Failure"]);
    let mut stage = stage.after(approve());
    assert_eq!(stage.status(), SessionStatus::Paused);
    assert_eq!(stage.when(fails(4)), ["4 Failure"]);
    let mut over = stage.after(abort());
    assert_eq!(over.when(fails(5)), ["5 Failure"]);
    assert_eq!(over.status(), SessionStatus::Error);
}

#[test]
fn resuming_begins_the_count_anew() {
    let stage = failing(Some(2)).after(fails(1)).after(fails(2));
    let mut stage = stage.after(resume());
    assert_eq!(stage.when(fails(3)), ["3 Failure"]);
    assert_eq!(stage.when(fails(4)), ["4 Failure", "paused after 2"]);
}

#[test]
fn a_ticket_without_an_id_is_refused() {
    let stage = Stage::under(anything()).after(submit(1, query_backlog()));
    let mut blank = backlog(1, 2);
    blank.items[1].id = " ".into();
    stage.check_invalid(blank, "items.id", "blank");
    let stage = Stage::under(anything()).after(submit(1, query_work_item()));
    let mut blank = work_item(1);
    blank.details.id = String::new();
    stage.check_invalid(blank, "details.id", "blank");
}
