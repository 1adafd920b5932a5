//! Examples of the events of a task.

use annals_domain::task::{
    Adopted, AdoptedTask, Cancelled, Complexity, ConstraintAdded, Created, CriterionAdded,
    DependencyAdded, Done, Event, Failed, GoalType, Planned, ReviewRecorded, ReviewVerdict,
    RunAdded, Started, Superseded, TaskStatus,
};
use annals_domain::{
    AnyEvent, Emitted, EvidenceId, IntentId, Kind, Pieces, RunId, StreamKind, TaskId,
};

use super::values::{actor, adopted, emitted, id, metadata_set, sealed};

pub(super) fn samples() -> Vec<Emitted> {
    vec![
        sample(created),
        sample(|pieces| ConstraintAdded {
            constraint: pieces.text("no new dependency — ever"),
        }),
        sample(|pieces| CriterionAdded {
            criterion: pieces.text("`list --json` prints an array"),
        }),
        sample(|_| DependencyAdded {
            dependency: TaskId(id(6)),
        }),
        sample(|_| RunAdded { run: RunId(id(7)) }),
        sample(|_| Started {}),
        sample(|_| Done { run: RunId(id(7)) }),
        sample(|pieces| Failed {
            run: Some(RunId(id(7))),
            reason: Some(pieces.text("die Abhängigkeit scheiterte")),
        }),
        sample(|pieces| Cancelled {
            reason: Some(pieces.text("больше не нужно")),
            dependency: Some(TaskId(id(6))),
        }),
        sample(|pieces| metadata_set(StreamKind::Task, pieces)),
        sample(|pieces| sealed(Kind::Task, pieces)),
        sample(adopted_task),
        sample(|pieces| Planned {
            alias: Some(pieces.text("t1-見直し")),
            complexity: Some(Complexity::Med),
            plan: Some(pieces.text("Erst die Tabelle, dann JSON.")),
            relevant_files: vec![pieces.text("src/list.rs"), pieces.text("docs/список.md")],
            implementation_steps: vec![pieces.text("read"), pieces.text("écrire")],
            context: Some(pieces.text("the table stays — immer")),
            supersedes: Some(TaskId(id(9))),
            extra: Some(pieces.text(r#"{"owner":"zoë"}"#)),
        }),
        sample(|pieces| ReviewRecorded {
            run: Some(RunId(id(7))),
            evidence: Some(EvidenceId(id(10))),
            verdict: ReviewVerdict::Rejected,
            issues: vec![pieces.text("no test — wieder"), pieces.text("命名")],
            suggestions: vec![pieces.text("разделить функцию")],
            extra: Some(pieces.text(r#"{"score":0.5}"#)),
        }),
        sample(|_| Superseded { by: TaskId(id(11)) }),
    ]
}

fn adopted_task(pieces: &mut Pieces) -> Adopted {
    Adopted {
        object: Some(AdoptedTask {
            header: adopted(pieces),
            title: pieces.text("Print JSON from “list”"),
            description: Some(pieces.text("Die Tabelle bleibt.")),
            goal: Some(GoalType::Feature),
            requester: Some(actor(pieces)),
            parent: Some(TaskId(id(4))),
            intent: Some(IntentId(id(2))),
            status: TaskStatus::Done,
        }),
        constraints: vec![pieces.text("no unsafe — ever")],
        acceptance_criteria: vec![pieces.text("tests pass ✓")],
        runs: vec![RunId(id(7))],
        dependencies: vec![TaskId(id(5)), TaskId(id(6))],
    }
}

fn created(pieces: &mut Pieces) -> Created {
    Created {
        title: pieces.text("Print JSON from “list”"),
        description: Some(pieces.text("The table stays the default.")),
        goal: Some(GoalType::Feature),
        constraints: vec![pieces.text("Rust 1.89"), pieces.text("no unsafe")],
        acceptance_criteria: vec![pieces.text("all tests pass")],
        requester: Some(actor(pieces)),
        parent: Some(TaskId(id(4))),
        intent: Some(IntentId(id(2))),
        dependencies: vec![TaskId(id(5)), TaskId(id(6))],
    }
}

fn sample<E: Into<Event>>(event: impl FnOnce(&mut Pieces) -> E) -> Emitted {
    emitted(|pieces| AnyEvent::Task(event(pieces).into()))
}
