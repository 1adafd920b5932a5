//! What the events do to the views.

use annals_domain::pipeline::{FrameKind, FramePushed, GlobalSummarySet, MaxFramesSet};
use annals_domain::plan::{
    StepAdded, StepFramesLinked, StepOutputRecorded, StepStatus, StepStatusChanged,
    StepTaskSpawned, StoredStep,
};
use annals_domain::run::{
    ApplyStatus, Created, DecisionMade, DecisionType, DiffFormat, Failed, MetricsRecorded,
    PatchSetApplied, PatchSetProposed, PatchSetReverted, PatchingStarted, ProvenanceRecorded,
    Status, StoredTokens, UsageRecorded, ValidationStarted,
};
use annals_domain::snapshot::{
    BlobAttached, ContextItemKind, Finalized, ItemAdded, Opened, SelectionStrategy,
};
use annals_domain::{
    DecisionId, FrameId, GitOid, Json, Ordered, PatchSetId, Pieces, ProvenanceId, RunId,
    StoredEnvironment, StreamKind, StreamRef, TaskId, intent, pipeline, plan, run, snapshot, task,
};
use annals_event_log::Position;

use crate::testing::{Story, fold, id, redacted, stream, time};
use crate::{
    ContextPipelineView, Entry, EvictedFrame, IntentView, ObjectView, PatchSetView, PieceValue,
    PlanView, ProvenanceView, RunView, TokenUsageView, View,
};

fn view<V: View>(story: &Story, number: u8) -> V {
    view_of(&story.entries(), number)
}

fn view_of<V: View>(entries: &[Entry], number: u8) -> V {
    let object = fold(V::KIND, id(number), entries).expect("the object is there");
    V::from_object(object).expect("it is of its kind")
}

fn run_stream() -> StreamRef {
    stream(StreamKind::Run, id(1))
}

fn on_run<E: Into<run::Event>>(story: &mut Story, event: impl FnOnce(&mut Pieces) -> E) {
    story.push(run_stream(), |pieces| event(pieces).into());
}

fn started() -> Story {
    let mut story = Story::new();
    on_run(&mut story, created);
    on_run(&mut story, |_| PatchingStarted {});
    story
}

fn created(_: &mut Pieces) -> Created {
    let task = TaskId(id(5));
    Created {
        task,
        plan: None,
        commit: None,
        snapshot: None,
        environment: None,
        reverts: None,
    }
}

fn proposed(number: u8) -> PatchSetProposed {
    PatchSetProposed {
        patch_set: PatchSetId(id(number)),
        commit: None,
        format: DiffFormat::GitDiff,
        artifact: None,
        touched: Vec::new(),
        rationale: None,
    }
}

fn decided(_: &mut Pieces) -> DecisionMade {
    DecisionMade {
        decision: DecisionId(id(7)),
        decision_type: DecisionType::Abandon,
        chosen_patch_set: None,
        result_commit: None,
        checkpoint_id: None,
        rationale: None,
    }
}

#[test]
fn a_run_lists_its_patch_sets_in_order_and_completes_with_its_decision() {
    let mut story = started();
    on_run(&mut story, |_| proposed(12));
    on_run(&mut story, |_| proposed(11));
    on_run(&mut story, |_| ValidationStarted {});
    assert_eq!(view::<RunView>(&story, 1).status(), Status::Validating);
    on_run(&mut story, decided);
    let run: RunView = view(&story, 1);
    assert_eq!(run.status(), Status::Completed);
    assert_eq!(run.patchsets, [PatchSetId(id(12)), PatchSetId(id(11))]);
    assert_eq!(
        (run.header.created_at, run.header.updated_at),
        (time(1), time(6))
    );
}

#[test]
fn a_decision_on_a_failed_run_leaves_it_failed() {
    let mut story = started();
    on_run(&mut story, |pieces| Failed {
        error: pieces.text("no memory"),
    });
    on_run(&mut story, decided);
    let run: RunView = view(&story, 1);
    assert_eq!(run.status(), Status::Failed);
    assert_eq!(run.error.unwrap().as_str(), Some("no memory"));
}

#[test]
fn a_reverted_patch_set_is_shown_as_rejected_and_is_known_as_reverted() {
    let mut story = started();
    on_run(&mut story, |_| proposed(10));
    let patch_set = PatchSetId(id(10));
    on_run(&mut story, |_| PatchSetApplied { patch_set });
    assert_eq!(
        view::<PatchSetView>(&story, 10).status(),
        ApplyStatus::Applied
    );
    on_run(&mut story, |_| PatchSetReverted {
        patch_set,
        reverted_by: RunId(id(20)),
    });
    let reverted: PatchSetView = view(&story, 10);
    assert_eq!(reverted.status(), ApplyStatus::Reverted);
    assert_eq!(reverted.reverted_by, Some(RunId(id(20))));
    let json = ObjectView::from(reverted).to_json().unwrap();
    assert!(json.ends_with(r#""apply_status":"rejected"}"#), "{json}");
}

fn used(uncached_input_tokens: u64, cost_usd: Option<f64>) -> UsageRecorded {
    UsageRecorded {
        model: None,
        uncached_input_tokens,
        cache_read_tokens: 20,
        cache_write_tokens: 3,
        cache_write_1h_tokens: 2,
        output_tokens: 5,
        reasoning_tokens: 1,
        web_searches: 0,
        cost_usd,
    }
}

fn provenance(token_usage: Option<StoredTokens>, pieces: &mut Pieces) -> ProvenanceRecorded {
    ProvenanceRecorded {
        provenance: ProvenanceId(id(6)),
        provider: pieces.text("local"),
        model: pieces.text("m"),
        parameters: Some(pieces.text(r#"{"temperature":0.5,"max_tokens":99,"seed":1}"#)),
        temperature: None,
        max_tokens: None,
        token_usage,
    }
}

#[test]
fn all_usage_of_the_run_counts_whenever_it_was_recorded() {
    let mut story = started();
    on_run(&mut story, |_| used(100, None));
    let recorded = StoredTokens {
        input_tokens: 1_000,
        output_tokens: 10,
        cost_usd: Some(0.5),
    };
    on_run(&mut story, |pieces| provenance(Some(recorded), pieces));
    let before: ProvenanceView = view(&story, 6);
    assert_eq!(before.header.updated_at, time(4));
    on_run(&mut story, |_| used(200, Some(0.25)));
    let after: ProvenanceView = view(&story, 6);
    let expected = TokenUsageView {
        input_tokens: 1_000 + 123 + 223,
        output_tokens: 20,
        total_tokens: 1_366,
        cost_usd: Some(0.75),
    };
    assert_eq!(after.token_usage, Some(expected));
    assert_eq!(
        after.header.updated_at,
        time(5),
        "usage changes the provenance"
    );
}

#[test]
fn token_sums_stop_at_the_largest_number() {
    let mut story = started();
    on_run(&mut story, |pieces| provenance(None, pieces));
    assert_eq!(view::<ProvenanceView>(&story, 6).token_usage, None);
    on_run(&mut story, |_| used(u64::MAX, None));
    let usage = view::<ProvenanceView>(&story, 6).token_usage.unwrap();
    assert_eq!(
        (usage.input_tokens, usage.total_tokens),
        (u64::MAX, u64::MAX)
    );
    assert_eq!(usage.cost_usd, None, "no cost is not a cost of nothing");
}

#[test]
fn temperature_and_max_tokens_fall_back_to_the_parameters() {
    let mut story = started();
    on_run(&mut story, |pieces| provenance(None, pieces));
    let fallen: ProvenanceView = view(&story, 6);
    assert_eq!(
        (fallen.temperature, fallen.max_tokens),
        (None, None),
        "as recorded"
    );
    assert_eq!(fallen.effective_temperature(), Some(0.5));
    assert_eq!(fallen.effective_max_tokens(), Some(99));
    let own = ProvenanceView {
        temperature: Some(1.0),
        max_tokens: Some(1),
        ..fallen
    };
    assert_eq!(
        (own.effective_temperature(), own.effective_max_tokens()),
        (Some(1.0), Some(1))
    );
    let bare = ProvenanceView {
        temperature: None,
        parameters: None,
        ..own
    };
    assert_eq!(bare.effective_temperature(), None);
}

#[test]
fn an_environment_has_each_field_once_and_keeps_the_order_of_the_rest() {
    let mut story = Story::new();
    let number = |text: &str| Json::parse(text).unwrap();
    let extra: Ordered<Json> = [("z", "1.50"), ("os", "2"), ("a", "{\"b\": 3}")]
        .into_iter()
        .map(|(name, json)| (name.to_owned(), number(json)))
        .collect();
    let environment = annals_domain::Environment::new("linux", "x86_64", "/srv").with_extra(extra);
    on_run(&mut story, |pieces| {
        let environment = Some(StoredEnvironment::store(&environment, pieces));
        Created {
            environment,
            ..created(&mut Pieces::new())
        }
    });
    let run: RunView = view(&story, 1);
    let json = serde_json::to_string(&run.environment).unwrap();
    assert_eq!(
        json,
        r#"{"os":"linux","arch":"x86_64","cwd":"/srv","z":1.50,"a":{"b":3}}"#
    );

    let bare = story.entry(&redacted(&story.records()[0], |_| true));
    let run: RunView = view_of(&[bare], 1);
    let json = serde_json::to_value(&run.environment).unwrap();
    assert_eq!(json["[removed 3]"], serde_json::json!({ "removed": true }));
    assert_eq!(json.as_object().unwrap().len(), 6);
}

fn step(description: &str, pieces: &mut Pieces) -> StoredStep {
    StoredStep {
        description: pieces.text(description),
        inputs: None,
        outputs: None,
        checks: None,
        iframes: vec![FrameId(0)],
        oframes: Vec::new(),
        task: None,
    }
}

#[test]
fn steps_change_where_their_number_says() {
    let mut story = Story::new();
    let own = stream(StreamKind::Plan, id(1));
    story.push(own, |pieces| {
        let steps = vec![step("first", pieces)];
        let (previous, intent, pipeline, fwindow) = (None, None, None, None);
        plan::Event::from(plan::Drafted {
            previous,
            intent,
            pipeline,
            fwindow,
            steps,
        })
    });
    story.push(own, |pieces| {
        plan::Event::from(StepAdded {
            index: 1,
            step: step("second", pieces),
        })
    });
    story.push(own, |_| {
        let (status, reason) = (StepStatus::Progressing, None);
        plan::Event::from(StepStatusChanged {
            index: 1,
            status,
            reason,
        })
    });
    story.push(own, |_| {
        let (iframes, oframes) = (vec![FrameId(4)], vec![FrameId(5)]);
        plan::Event::from(StepFramesLinked {
            index: 1,
            iframes,
            oframes,
            inferred: false,
        })
    });
    let task = TaskId(id(9));
    story.push(own, |_| {
        plan::Event::from(StepTaskSpawned { index: 1, task })
    });
    story.push(own, |pieces| {
        plan::Event::from(StepOutputRecorded {
            index: 1,
            outputs: pieces.text("[1]"),
        })
    });
    let plan: PlanView = view(&story, 1);
    let (first, second) = (plan.step(0).unwrap(), plan.step(1).unwrap());
    assert_eq!(
        (first.status(), first.statuses.len()),
        (StepStatus::Pending, 1)
    );
    assert_eq!(
        (second.status(), second.statuses.len()),
        (StepStatus::Progressing, 2)
    );
    assert_eq!(
        (second.statuses[0].changed_at, second.statuses[1].changed_at),
        (time(2), time(3))
    );
    assert_eq!(
        (&second.iframes, &second.oframes),
        (&vec![FrameId(0), FrameId(4)], &vec![FrameId(5)])
    );
    assert_eq!(second.task, Some(task));
    assert_eq!(second.outputs.as_ref().unwrap().to_string(), "[1]");

    // As seen at a moment by the callers' clocks, a step may be missing.
    let mut entries = story.entries();
    entries.retain(|entry| entry.version.0 != 2);
    let plan: PlanView = view_of(&entries, 1);
    assert_eq!(plan.step(0).map(|step| step.statuses.len()), Some(1));
    assert_eq!(plan.steps.len(), 1);
    assert!(plan.step(2).is_none());
}

#[test]
fn a_blob_is_attached_to_the_item_with_its_number() {
    let mut story = Story::new();
    let own = stream(StreamKind::Snapshot, id(1));
    story.push(own, |_| {
        let strategy = SelectionStrategy::Explicit;
        snapshot::Event::from(Opened {
            strategy,
            summary: None,
        })
    });
    for index in 0..3 {
        story.push(own, |pieces| {
            let kind = ContextItemKind::Other("log".to_owned());
            let path = pieces.text(format!("path {index}"));
            snapshot::Event::from(ItemAdded {
                index,
                kind,
                path,
                preview: None,
                blob: None,
                content: None,
                content_blob: None,
            })
        });
    }
    let blob = GitOid::Sha1([7; 20]);
    story.push(own, |_| {
        snapshot::Event::from(BlobAttached { index: 2, blob })
    });
    story.push(own, |_| snapshot::Event::from(Finalized { summary: None }));
    let mut entries = story.entries();
    for missing in [false, true] {
        let snapshot: crate::ContextSnapshotView = view_of(&entries, 1);
        assert_eq!(snapshot.item(2).unwrap().blob, Some(blob));
        assert_eq!(snapshot.item(0).unwrap().blob, None);
        assert_eq!(snapshot.item(1).is_none(), missing);
        assert!(snapshot.finalized);
        // As seen at a moment by the callers' clocks, an event may be missing.
        entries.retain(|entry| entry.version.0 != 3);
    }
    let snapshot: crate::ContextSnapshotView = view(&story, 1);
    let json = serde_json::to_string(&snapshot.items[2]).unwrap();
    let sevens = ["7"; 20].join(",");
    let expected =
        format!(r#"{{"kind":{{"other":"log"}},"path":"path 2","blob":{{"Sha1":[{sevens}]}}}}"#);
    assert_eq!(json, expected);
}

fn pipeline_stream() -> StreamRef {
    stream(StreamKind::Pipeline, id(1))
}

fn push(story: &mut Story, number: u64, kind: FrameKind) {
    story.push(pipeline_stream(), |pieces| {
        pipeline::Event::from(FramePushed {
            frame_id: FrameId(number),
            kind,
            summary: pieces.text(format!("frame {number}")),
            data: None,
            content: None,
            token_estimate: Some(10),
        })
    });
}

fn pipeline_of(frames: u64) -> Story {
    let mut story = Story::new();
    story.push(pipeline_stream(), |_| {
        pipeline::Event::from(pipeline::Created { max_frames: 0 })
    });
    story.push(pipeline_stream(), |_| {
        pipeline::Event::from(MaxFramesSet { max_frames: 3 })
    });
    push(&mut story, 0, FrameKind::IntentAnalysis);
    for number in 1..frames {
        push(&mut story, number, FrameKind::StepSummary);
    }
    story
}

fn shown(pipeline: &ContextPipelineView) -> Vec<u64> {
    pipeline.frames().map(|frame| frame.frame_id.0).collect()
}

#[test]
fn content_that_is_stored_apart_is_a_member_of_the_frames_data() {
    let with = |data: Option<&str>, content: Option<&str>| {
        let mut story = pipeline_of(0);
        story.push(pipeline_stream(), |pieces| {
            pipeline::Event::from(FramePushed {
                frame_id: FrameId(1),
                kind: FrameKind::ToolCall,
                summary: pieces.text("read a file"),
                data: data.map(|data| pieces.text(data)),
                content: content.map(|content| pieces.text(content)),
                token_estimate: None,
            })
        });
        story
    };
    let data = |entries: &[Entry]| {
        let pipeline: ContextPipelineView = view_of(entries, 1);
        let data = &pipeline.frames().next_back().unwrap().data;
        data.as_ref()
            .map(|data| serde_json::to_string(data).unwrap())
    };
    let shown = |story: Story| data(&story.entries());
    let (free, text) = (r#"{"b":1.50,"a":2}"#, r#""text""#);
    assert_eq!(shown(with(None, None)), None);
    assert_eq!(shown(with(Some(free), None)).unwrap(), free);
    assert_eq!(
        shown(with(None, Some(text))).unwrap(),
        r#"{"content":"text"}"#
    );
    assert_eq!(
        shown(with(Some(free), Some(text))).unwrap(),
        r#"{"b":1.50,"a":2,"content":"text"}"#
    );
    assert_eq!(
        shown(with(Some("[1]"), Some(text))).unwrap(),
        r#"{"data":[1],"content":"text"}"#
    );
    // An older program took what cannot be read.
    assert_eq!(
        shown(with(None, Some(r#""cut \ud83d""#))).unwrap(),
        r#"{"content":"\"cut \\ud83d\""}"#
    );
    let removed = |data_is: Option<&str>, slots: &[usize]| {
        let mut entries = with(data_is, Some(text)).entries();
        for slot in slots {
            entries.last_mut().unwrap().pieces[*slot] = PieceValue::Removed;
        }
        data(&entries).unwrap()
    };
    assert_eq!(
        removed(Some(free), &[1]),
        r#"{"[removed]":{"removed":true},"content":"text"}"#
    );
    assert_eq!(
        removed(Some(free), &[2]),
        r#"{"b":1.50,"a":2,"content":{"removed":true}}"#
    );
    assert_eq!(removed(Some(free), &[1, 2]), r#"{"removed":true}"#);
    assert_eq!(removed(None, &[1]), r#"{"removed":true}"#);
}

#[test]
fn a_full_window_evicts_and_the_view_says_at_which_push() {
    let story = pipeline_of(5);
    let pipeline: ContextPipelineView = view(&story, 1);
    assert_eq!(shown(&pipeline), [0, 3, 4]);
    assert_eq!(
        (pipeline.next_frame_id, pipeline.max_frames()),
        (FrameId(5), 3)
    );
    assert_eq!(pipeline.total_token_estimate(), 30);
    assert_eq!(
        pipeline.frame_by_id(FrameId(3)).unwrap().created_at,
        time(6)
    );
    for gone in [1, 2, 5] {
        assert_eq!(pipeline.frame_by_id(FrameId(gone)), None);
    }
    let evicted = |frame, pushed, position| EvictedFrame {
        frame: FrameId(frame),
        kind: FrameKind::StepSummary,
        token_estimate: Some(10),
        pushed: Some(FrameId(pushed)),
        position: Position(position),
    };
    assert_eq!(pipeline.evicted, [evicted(1, 3, 6), evicted(2, 4, 7)]);
}

#[test]
fn frames_keep_their_numbers_where_pushes_are_missing() {
    let story = pipeline_of(7);
    let mut entries = story.entries();
    // Frame 2 had not happened yet by its author's clock.
    entries.retain(|entry| entry.version.0 != 5);
    let pipeline: ContextPipelineView = view_of(&entries, 1);
    assert_eq!(shown(&pipeline), [0, 5, 6]);
    assert_eq!(pipeline.next_frame_id, FrameId(7));
    let evicted: Vec<u64> = pipeline
        .evicted
        .iter()
        .map(|evicted| evicted.frame.0)
        .collect();
    assert_eq!(evicted, [1, 3, 4]);
    assert_eq!(
        pipeline.frame_by_id(FrameId(5)).unwrap().summary.as_str(),
        Some("frame 5")
    );
    assert_eq!(pipeline.frame_by_id(FrameId(4)), None);
}

#[test]
fn a_task_collects_its_runs_and_ends_with_a_reason() {
    let mut story = Story::new();
    let own = stream(StreamKind::Task, id(1));
    story.push(own, |pieces| {
        task::Event::from(task::Created {
            title: pieces.text("t"),
            description: None,
            goal: None,
            constraints: Vec::new(),
            acceptance_criteria: Vec::new(),
            requester: None,
            parent: None,
            intent: None,
            dependencies: Vec::new(),
        })
    });
    for number in [3, 2] {
        story.push(own, |_| {
            task::Event::from(task::RunAdded {
                run: RunId(id(number)),
            })
        });
    }
    story.push(own, |_| task::Event::from(task::Started {}));
    assert_eq!(
        view::<crate::TaskView>(&story, 1).status(),
        task::Status::Running
    );
    story.push(own, |pieces| {
        task::Event::from(task::Failed {
            run: None,
            reason: Some(pieces.text("why")),
        })
    });
    let task: crate::TaskView = view(&story, 1);
    assert_eq!(task.runs, [RunId(id(3)), RunId(id(2))]);
    assert_eq!(task.status(), task::Status::Failed);
    assert_eq!(task.reason.unwrap().as_str(), Some("why"));
}

#[test]
fn the_last_content_the_last_metrics_and_the_last_global_summary_count() {
    let own = stream(StreamKind::Intent, id(1));
    let mut intents = Story::new();
    intents.push(own, |pieces| {
        intent::Event::from(intent::Submitted {
            refines: None,
            prompt: pieces.text("p"),
        })
    });
    let (mut runs, mut pipelines) = (started(), pipeline_of(1));
    for text in ["1", "2"] {
        intents.push(own, |pieces| {
            let content = pieces.text(text);
            intent::Event::from(intent::Analyzed { content })
        });
        on_run(&mut runs, |pieces| MetricsRecorded {
            metrics: pieces.text(text),
        });
        pipelines.push(pipeline_stream(), |pieces| {
            let summary = Some(pieces.text(text));
            pipeline::Event::from(GlobalSummarySet { summary })
        });
    }
    let content = view::<IntentView>(&intents, 1).content.unwrap();
    assert_eq!(content.as_str(), Some("2"));
    let metrics = view::<RunView>(&runs, 1).metrics.unwrap();
    assert_eq!(metrics.to_string(), "2");
    let summary = view::<ContextPipelineView>(&pipelines, 1).global_summary;
    assert_eq!(summary.unwrap().as_str(), Some("2"));
}
