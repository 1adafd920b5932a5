//! Tests of a run's report.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use annals_domain::run::{
    ChangeType, Created, DecisionMade, DecisionType, DiffFormat, Event, EvidenceKind,
    EvidenceRecorded, GrantScope, PatchSetProposed, PatchSetRejected, ProvenanceRecorded,
    StoredTokens, StoredTouchedFile, ToolDecided, ToolDecider, ToolEnded, ToolInvoked,
    ToolRequested, ToolStatus, ToolVerdict, UsageRecorded,
};
use annals_domain::{
    DecisionId, EvidenceId, Json, PatchSetId, Pieces, ProvenanceId, RunId, StreamKind, TaskId,
    ToolInvocationId,
};
use serde_json::{Value, json};

use super::{RunReport, RunReportFold};
use crate::testing::{Story, id, stream, time};
use crate::{Teller, Text};

fn push<E: Into<Event>>(story: &mut Story, event: impl FnOnce(&mut Pieces) -> E) {
    story.push(stream(StreamKind::Run, id(1)), |pieces| {
        event(pieces).into()
    });
}

fn begun() -> Story {
    let mut story = Story::new();
    push(&mut story, |_| Created {
        task: TaskId(id(5)),
        plan: None,
        commit: None,
        snapshot: None,
        environment: None,
        reverts: None,
    });
    story
}

fn call(number: u8) -> ToolInvocationId {
    ToolInvocationId(id(number))
}

fn requested(story: &mut Story, number: u8, args: &Value) {
    let args = Json::from_value(args).unwrap();
    push(story, |pieces| ToolRequested {
        tool_invocation: call(number),
        tool_name: pieces.text("Bash"),
        io_footprint: None,
        args: Some(pieces.json(&args)),
    });
}

fn ended(story: &mut Story, number: u8, status: ToolStatus, result: &str) {
    push(story, |pieces| ToolEnded {
        tool_invocation: call(number),
        tool_name: None,
        status,
        duration_ms: Some(7_234),
        result_summary: Some(pieces.text(result)),
        failure: None,
        artifacts: Vec::new(),
    });
}

fn decided(story: &mut Story, number: u8, verdict: ToolVerdict) {
    push(story, |_| ToolDecided {
        tool_invocation: call(number),
        tool_name: None,
        verdict,
        by: ToolDecider::Person,
        by_name: None,
        source: None,
        scope: GrantScope::Once,
        grant: None,
        inferred: false,
        reason: None,
        permission_mode: None,
        in_force: None,
    });
}

fn invoked(story: &mut Story, number: u8, status: ToolStatus) {
    let args = Json::from_value(&json!({ "file_path": "a.rs" })).unwrap();
    push(story, |pieces| ToolInvoked {
        tool_invocation: call(number),
        tool_name: pieces.text("Read"),
        io_footprint: None,
        args: Some(pieces.json(&args)),
        status,
        duration_ms: None,
        result_summary: Some(pieces.text("no such file")),
        artifacts: Vec::new(),
    });
}

fn proposed(story: &mut Story, number: u8, files: &[(&str, u32, u32)]) {
    push(story, |pieces| PatchSetProposed {
        patch_set: PatchSetId(id(number)),
        commit: None,
        format: DiffFormat::Unified,
        artifact: None,
        touched: files
            .iter()
            .map(|(path, lines_added, lines_deleted)| StoredTouchedFile {
                path: pieces.text(*path),
                change_type: ChangeType::Modify,
                lines_added: *lines_added,
                lines_deleted: *lines_deleted,
            })
            .collect(),
        rationale: None,
    });
}

/// The report, made as the facade makes it: what is only counted is not decoded.
fn report(story: &Story) -> RunReport {
    let mut fold = RunReportFold::new(RunId(id(1)));
    let entries = story.entries();
    for entry in &entries {
        if fold.count(&entry.event, entry.version, entry.occurred_at) {
            fold.apply(entry);
        }
    }
    let mut report = fold.report().expect("the run was created");
    for failed in &mut report.failed_calls {
        let said = entries
            .iter()
            .find(|it| Some(it.version) == failed.requested);
        said.into_iter().for_each(|entry| failed.complete(entry));
    }
    report
}

fn failed_lines(report: &RunReport) -> Vec<String> {
    let lines = report.failed_calls.iter().map(|call| call.line.to_string());
    lines.collect()
}

#[test]
fn calls_are_counted_once_and_those_that_failed_are_told() {
    let mut story = begun();
    requested(&mut story, 10, &json!({ "command": "make" }));
    ended(&mut story, 10, ToolStatus::Error, "Exit code 2\nno rule");
    requested(&mut story, 11, &json!({ "command": "ls" }));
    ended(&mut story, 11, ToolStatus::Ok, "");
    requested(&mut story, 12, &json!({ "command": "rm -rf /" }));
    decided(&mut story, 12, ToolVerdict::Deny);
    invoked(&mut story, 13, ToolStatus::Ok);
    invoked(&mut story, 14, ToolStatus::Error);
    // What is told of a call as a whole later is the same call.
    invoked(&mut story, 10, ToolStatus::Error);
    let report = report(&story);
    assert_eq!((report.calls, report.failed, report.denied), (5, 2, 1));
    assert_eq!(
        failed_lines(&report),
        [
            "Bash make -> exit 2 (7.2 s)",
            "Read a.rs -> failed: no such file"
        ]
    );
    assert_eq!(report.failed_calls[0].position.0, 3);
}

#[test]
fn a_call_is_counted_as_its_view_says_it_ended() {
    let mut story = begun();
    // Two sources disagree: the last one counts.
    ended(&mut story, 2, ToolStatus::Error, "Exit code 1");
    invoked(&mut story, 2, ToolStatus::Ok);
    decided(&mut story, 3, ToolVerdict::Deny);
    decided(&mut story, 3, ToolVerdict::Allow);
    ended(&mut story, 4, ToolStatus::Ok, "done");
    decided(&mut story, 4, ToolVerdict::Deny);
    let report = report(&story);
    assert_eq!((report.calls, report.failed, report.denied), (3, 0, 0));
    assert!(report.failed_calls.is_empty());
}

#[test]
fn of_many_failed_calls_the_last_ones_are_told() {
    let mut story = begun();
    for number in 10..40 {
        invoked(&mut story, number, ToolStatus::Error);
    }
    let report = report(&story);
    assert_eq!((report.calls, report.failed), (30, 30));
    let told: Vec<ToolInvocationId> = report.failed_calls.iter().map(|call| call.id).collect();
    let last: Vec<ToolInvocationId> = (20..40).map(call).collect();
    assert_eq!(told, last);
}

#[test]
fn files_are_added_up_over_what_was_not_turned_down() {
    let mut story = begun();
    proposed(&mut story, 20, &[("a", 3, 1), ("b", 1, 0)]);
    proposed(&mut story, 21, &[("a", 2, 2)]);
    proposed(&mut story, 22, &[("a", 100, 100), ("c", 1, 1)]);
    push(&mut story, |_| PatchSetRejected {
        patch_set: PatchSetId(id(22)),
        reason: None,
    });
    let report = report(&story);
    let files: Vec<(String, u64, u64, u64)> = report
        .files
        .iter()
        .map(|file| {
            (
                file.path.to_string(),
                file.added,
                file.deleted,
                file.patch_sets,
            )
        })
        .collect();
    assert_eq!(
        files,
        [("a".to_owned(), 5, 3, 2), ("b".to_owned(), 1, 0, 1)]
    );
    assert_eq!(report.patch_sets, 2);
    assert_eq!(report.files[0].last, PatchSetId(id(21)));
}

#[test]
fn what_it_used_and_came_to() {
    let mut story = begun();
    let usage = |cost| UsageRecorded {
        model: None,
        uncached_input_tokens: 1,
        cache_read_tokens: 10,
        cache_write_tokens: 100,
        cache_write_1h_tokens: 0,
        output_tokens: 1_000,
        reasoning_tokens: 0,
        web_searches: 0,
        cost_usd: cost,
    };
    push(&mut story, |_| usage(Some(0.5)));
    push(&mut story, |_| usage(None));
    for _ in 0..2 {
        push(&mut story, |pieces| ProvenanceRecorded {
            provenance: ProvenanceId(id(30)),
            provider: pieces.text("anthropic"),
            model: pieces.text("claude"),
            parameters: None,
            temperature: None,
            max_tokens: None,
            token_usage: None,
        });
    }
    push(&mut story, |pieces| ProvenanceRecorded {
        provenance: ProvenanceId(id(31)),
        provider: pieces.text("openai"),
        model: pieces.text("gpt"),
        parameters: None,
        temperature: None,
        max_tokens: None,
        token_usage: Some(StoredTokens {
            input_tokens: 5,
            output_tokens: 6,
            cost_usd: Some(0.25),
        }),
    });
    push(&mut story, |pieces| EvidenceRecorded {
        evidence: EvidenceId(id(40)),
        patch_set: None,
        kind: EvidenceKind::Test,
        tool: pieces.text("cargo"),
        command: Some(pieces.text("cargo test")),
        exit_code: Some(0),
        summary: None,
        report_artifacts: Vec::new(),
    });
    push(&mut story, |pieces| DecisionMade {
        decision: DecisionId(id(50)),
        decision_type: DecisionType::Abandon,
        chosen_patch_set: None,
        result_commit: None,
        checkpoint_id: None,
        rationale: Some(pieces.text("too hard")),
    });
    let report = report(&story);
    let tokens = report.tokens.unwrap();
    assert_eq!(
        (tokens.uncached_input_tokens, tokens.output_tokens),
        (7, 2_006)
    );
    assert_eq!((tokens.input_tokens(), tokens.total_tokens), (227, 2_233));
    assert_eq!(tokens.cost_usd, Some(0.75));
    let models: Vec<String> = report
        .models
        .iter()
        .map(|it| it.model.to_string())
        .collect();
    assert_eq!(models, ["claude", "gpt"]);
    assert_eq!((report.checks, report.last_checks.len()), (1, 1));
    let decision = report.decision.unwrap();
    assert_eq!(decision.verdict, "abandon");
    assert_eq!(decision.rationale, Some(Text::from("too hard")));
    assert_eq!((report.ended_at, report.events), (Some(time(8)), 8));
}

#[test]
fn there_is_no_report_before_the_run() {
    let fold = RunReportFold::new(RunId(id(1)));
    assert_eq!(fold.report(), None);
}

/// What only names a call is told with what was called, in both directions.
#[test]
fn events_of_a_call_say_what_was_called() {
    let mut story = begun();
    requested(&mut story, 10, &json!({ "command": "make" }));
    decided(&mut story, 10, ToolVerdict::Deny);
    ended(&mut story, 10, ToolStatus::Error, "Exit code 2");
    ended(&mut story, 11, ToolStatus::Error, "Exit code 2");
    let entries = story.entries();
    let expected = [
        "requested: Bash make (call 0000000a)",
        "denied by person: Bash make (call 0000000a)",
        "Bash make -> exit 2 (7.2 s)",
        "call 0000000b ended error: \"Exit code 2\"",
    ];
    let mut forward = Teller::new();
    let told: Vec<String> = entries.iter().map(|it| forward.tell(it).summary).collect();
    assert_eq!(told[1..], expected);
    let mut backward = Teller::new();
    entries.iter().for_each(|entry| backward.learn(entry));
    let told = entries.iter().rev().map(|it| backward.tell(it).summary);
    let mut told: Vec<String> = told.collect();
    told.reverse();
    assert_eq!(told[1..], expected);
}
