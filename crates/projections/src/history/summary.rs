//! What an event changed, in one line.

mod intake;
mod session;
mod tool_call;
mod words;

use annals_domain::metadata::Sealed;
use annals_domain::pipeline::FramePushed;
use annals_domain::run::{
    DecisionMade, EvidenceRecorded, PatchSetProposed, StoredTouchedFile, UsageRecorded,
};
use annals_domain::{Adoption, AnyEvent, alias, intent, pipeline, plan, run, snapshot, task};

use crate::Entry;
use crate::header::recorded_checksum;
use crate::views::TokenUsageView;
use words::{because, count, frame_list, inferred, metadata, quoted, redacted, short, short_oid};

pub(super) use tool_call::decided;
pub(super) use words::short as short_id;

pub(super) fn summary(entry: &Entry) -> String {
    match &entry.event {
        AnyEvent::Intent(event) => intent(event, entry),
        AnyEvent::Plan(event) => plan(event, entry),
        AnyEvent::Task(event) => task(event, entry),
        AnyEvent::Run(event) => run(event, entry),
        AnyEvent::Snapshot(event) => snapshot(event, entry),
        AnyEvent::Pipeline(event) => pipeline(event, entry),
        AnyEvent::Alias(event) => alias(event, entry),
        AnyEvent::Session(event) => session::session(event, entry),
        AnyEvent::Bucket(event) => session::bucket(event, entry),
        AnyEvent::Settings(event) => intake::settings(event, entry),
        AnyEvent::Observation(event) => intake::observation(event, entry),
    }
}

fn sealed(event: &Sealed, entry: &Entry) -> String {
    match recorded_checksum(event, entry) {
        Some(checksum) => format!("sealed, checksum {checksum}"),
        None => "sealed; the checksum was removed, and cannot be checked any more".to_owned(),
    }
}

/// What was taken over, and what is wrong with it.
fn adopted(entry: &Entry, what: &str) -> String {
    let touched = entry.touches().first().map(|(_, id)| short(*id));
    let what = format!("{what} {}", touched.unwrap_or_default());
    match entry.event.adoption() {
        Some(Adoption::Begun(header)) => {
            let against = match header.violations.len() {
                0 => String::new(),
                n => format!(", {}", count(n, "violation", "violations")),
            };
            format!("{what} adopted from {}{against}", header.dialect.name())
        }
        Some(Adoption::Continued) | None => format!("{what}: more of what was adopted"),
    }
}

fn alias(event: &alias::Event, entry: &Entry) -> String {
    match event {
        alias::Event::Reserved(event) => {
            let alias = quoted(entry, event.alias);
            format!("{alias} refers to {}", short(event.object))
        }
        alias::Event::Redacted(event) => redacted(event, entry),
    }
}

fn intent(event: &intent::Event, entry: &Entry) -> String {
    use intent::Event;
    match event {
        Event::Submitted(event) => {
            let refines = event.refines.map(|id| format!(", refines {}", short(id)));
            let prompt = quoted(entry, event.prompt);
            format!("submitted {prompt}{}", refines.unwrap_or_default())
        }
        Event::Analyzed(event) => format!("content set to {}", quoted(entry, event.content)),
        Event::Activated(event) => {
            format!("status draft -> active{}", because(entry, event.reason))
        }
        Event::PlanSelected(event) => format!("plan {} selected", short(event.plan)),
        Event::CommitRecorded(event) => format!("commit {} recorded", short_oid(&event.commit)),
        Event::Completed(event) => {
            format!("status active -> completed{}", because(entry, event.reason))
        }
        Event::Cancelled(event) => format!("status -> cancelled{}", because(entry, event.reason)),
        Event::TakenIn(event) => intake::taken_in(event),
        Event::Classified(event) => intake::classified(event, entry),
        Event::Approved(event) => intake::approved(event, entry),
        Event::Rejected(event) => format!("rejected{}", because(entry, event.reason)),
        Event::Instructed(event) => format!("instructed: {}", quoted(entry, event.instruction)),
        Event::ExecutionStarted(_) => "approved -> executing".to_owned(),
        Event::ClarificationRequested(event) => intake::asked(event, entry),
        Event::ClarificationAnswered(event) => {
            let answer = quoted(entry, event.answer);
            format!("question {} answered: {answer}", event.question)
        }
        Event::Decomposed(event) => {
            let children: Vec<String> = event.children.iter().map(|id| short(*id)).collect();
            format!("decomposed into {}", children.join(", "))
        }
        Event::TaskAdded(event) => format!("task {} added", short(event.task)),
        Event::RerunRequested(event) => {
            let tasks = count(event.superseded.len(), "failed task", "failed tasks");
            format!("rerun of {tasks}")
        }
        Event::Adopted(_) => adopted(entry, "intent"),
        Event::MetadataSet(event) => metadata(event),
        Event::Redacted(event) => redacted(event, entry),
        Event::Sealed(event) => sealed(event, entry),
    }
}

fn plan(event: &plan::Event, entry: &Entry) -> String {
    use plan::Event;
    match event {
        Event::Drafted(event) => {
            let previous = event.previous.map(|id| format!(", revises {}", short(id)));
            let steps = count(event.steps.len(), "step", "steps");
            format!("drafted with {steps}{}", previous.unwrap_or_default())
        }
        Event::StepAdded(event) => {
            format!(
                "step {} added: {}",
                event.index,
                quoted(entry, event.step.description)
            )
        }
        Event::StepStatusChanged(event) => {
            let reason = because(entry, event.reason);
            format!("step {}: status -> {}{reason}", event.index, event.status)
        }
        Event::StepFramesLinked(event) => {
            let (used, made) = (frame_list(&event.iframes), frame_list(&event.oframes));
            format!(
                "step {}: consumed frames {used}, produced frames {made}{}",
                event.index,
                inferred(event.inferred)
            )
        }
        Event::StepTaskSpawned(event) => {
            format!("step {}: task {} spawned", event.index, short(event.task))
        }
        Event::StepOutputRecorded(event) => format!("step {}: outputs recorded", event.index),
        Event::Revised(event) => format!("revised by plan {}", short(event.by)),
        Event::Assigned(event) => format!("assigned to intent {}", short(event.intent)),
        Event::Restored(event) => format!("goes back to plan {}", short(event.plan)),
        Event::Adopted(_) => adopted(entry, "plan"),
        Event::MetadataSet(event) => metadata(event),
        Event::Redacted(event) => redacted(event, entry),
        Event::Sealed(event) => sealed(event, entry),
    }
}

fn task(event: &task::Event, entry: &Entry) -> String {
    use task::Event;
    match event {
        Event::Created(event) => format!("created {}", quoted(entry, event.title)),
        Event::ConstraintAdded(event) => {
            format!("constraint added: {}", quoted(entry, event.constraint))
        }
        Event::CriterionAdded(event) => {
            format!(
                "acceptance criterion added: {}",
                quoted(entry, event.criterion)
            )
        }
        Event::DependencyAdded(event) => format!("depends on task {}", short(event.dependency)),
        Event::RunAdded(event) => format!("run {} added", short(event.run)),
        Event::Started(_) => "status draft -> running".to_owned(),
        Event::Done(event) => format!("status running -> done by run {}", short(event.run)),
        Event::Failed(event) => {
            let run = event.run.map(|run| format!(" by run {}", short(run)));
            let reason = because(entry, event.reason);
            format!("status -> failed{}{reason}", run.unwrap_or_default())
        }
        Event::Cancelled(event) => {
            let with = event
                .dependency
                .map(|task| format!(" with task {}", short(task)));
            let reason = because(entry, event.reason);
            format!("status -> cancelled{}{reason}", with.unwrap_or_default())
        }
        Event::Planned(event) => intake::planned(event, entry),
        Event::ReviewRecorded(event) => intake::reviewed(event, entry),
        Event::Superseded(event) => format!("superseded by task {}", short(event.by)),
        Event::Adopted(_) => adopted(entry, "task"),
        Event::MetadataSet(event) => metadata(event),
        Event::Redacted(event) => redacted(event, entry),
        Event::Sealed(event) => sealed(event, entry),
    }
}

fn run(event: &run::Event, entry: &Entry) -> String {
    use run::Event;
    match event {
        Event::Created(event) => {
            let plan = event.plan.map(|plan| format!(", plan {}", short(plan)));
            format!(
                "created for task {}{}",
                short(event.task),
                plan.unwrap_or_default()
            )
        }
        Event::SnapshotAttached(event) => format!("snapshot {} attached", short(event.snapshot)),
        Event::PatchingStarted(_) => "status created -> patching".to_owned(),
        Event::ValidationStarted(_) => "status patching -> validating".to_owned(),
        // What was called is told by `calls`, where it is known.
        Event::ToolInvoked(_)
        | Event::ToolInvocationAdopted(_)
        | Event::ToolRequested(_)
        | Event::ToolDecided(_)
        | Event::ToolBegun(_)
        | Event::ToolEnded(_) => tool_call::unnamed(event, entry),
        Event::PatchSetProposed(event) => proposed(event, entry),
        Event::PatchSetApplied(event) => format!("patch set {} applied", short(event.patch_set)),
        Event::PatchSetRejected(event) => {
            let reason = because(entry, event.reason);
            format!("patch set {} rejected{reason}", short(event.patch_set))
        }
        Event::PatchSetReverted(event) => {
            let by = short(event.reverted_by);
            format!("patch set {} reverted by run {by}", short(event.patch_set))
        }
        Event::RationaleOverridden(event) => {
            let rationale = because(entry, event.rationale);
            format!(
                "patch set {}: rationale replaced{rationale}",
                short(event.patch_set)
            )
        }
        Event::EvidenceRecorded(event) => evidence(event, entry),
        Event::ProvenanceRecorded(event) => {
            let (provider, model) = (quoted(entry, event.provider), quoted(entry, event.model));
            format!("provenance {}: {provider} {model}", short(event.provenance))
        }
        Event::UsageRecorded(event) => usage(event),
        Event::MetricsRecorded(_) => "metrics recorded".to_owned(),
        Event::DecisionMade(event) => decision(event, entry),
        Event::ResultCommitRecorded(event) => {
            let decision = short(event.decision);
            format!("decision {decision}: commit {} recorded", event.commit)
        }
        Event::EndedAfterIntent(event) => {
            let intent = short(event.intent);
            format!("ended after intent {intent} was {}", event.status)
        }
        Event::Failed(event) => format!("status -> failed: {}", quoted(entry, event.error)),
        Event::Adopted(_) => adopted(entry, "run"),
        Event::PatchSetAdopted(_) => adopted(entry, "patch set"),
        Event::EvidenceAdopted(_) => adopted(entry, "evidence"),
        Event::DecisionAdopted(_) => adopted(entry, "decision"),
        Event::ProvenanceAdopted(_) => adopted(entry, "provenance"),
        Event::MetadataSet(event) => metadata(event),
        Event::Redacted(event) => redacted(event, entry),
        Event::Sealed(event) => sealed(event, entry),
    }
}

/// Files that are named of a patch set.
const FILES: usize = 3;

fn proposed(event: &PatchSetProposed, entry: &Entry) -> String {
    let file = |file: &StoredTouchedFile| {
        let (added, deleted) = (file.lines_added, file.lines_deleted);
        format!(
            "{} +{added} -{deleted}",
            words::plain(&entry.text(file.path))
        )
    };
    let named: Vec<String> = event.touched.iter().take(FILES).map(file).collect();
    let more = match event.touched.len() - named.len() {
        0 => String::new(),
        more => format!(" and {}", count(more, "more file", "more files")),
    };
    let named = match named.as_slice() {
        [] => String::new(),
        named => format!(": {}{more}", named.join(", ")),
    };
    format!("patch set {} proposed{named}", short(event.patch_set))
}

fn evidence(event: &EvidenceRecorded, entry: &Entry) -> String {
    let exit = event
        .exit_code
        .map(|code| format!(", exit code {code}"))
        .unwrap_or_default();
    let tool = quoted(entry, event.tool);
    let summary = because(entry, event.summary);
    format!(
        "evidence {}: {} by {tool}{exit}{summary}",
        short(event.evidence),
        event.kind
    )
}

fn usage(event: &UsageRecorded) -> String {
    let used = TokenUsageView::of(event);
    let searches = match event.web_searches {
        0 => String::new(),
        1 => ", 1 web search".to_owned(),
        count => format!(", {count} web searches"),
    };
    format!(
        "{} tokens in, {} out{searches}",
        used.input_tokens, used.output_tokens
    )
}

fn decision(event: &DecisionMade, entry: &Entry) -> String {
    let chosen = event
        .chosen_patch_set
        .map(|id| format!(", patch set {}", short(id)));
    let commit = event
        .result_commit
        .map(|oid| format!(", commit {}", short_oid(&oid)));
    let rationale = because(entry, event.rationale);
    let (chosen, commit) = (chosen.unwrap_or_default(), commit.unwrap_or_default());
    format!(
        "decision {}: {}{chosen}{commit}{rationale}",
        short(event.decision),
        event.decision_type
    )
}

fn snapshot(event: &snapshot::Event, entry: &Entry) -> String {
    use snapshot::Event;
    match event {
        Event::Opened(event) => format!("opened, items selected by {}", event.strategy),
        Event::ItemAdded(event) => {
            format!(
                "item {} added: {} {}",
                event.index,
                event.kind,
                quoted(entry, event.path)
            )
        }
        Event::BlobAttached(event) => {
            format!(
                "item {}: blob {} attached",
                event.index,
                short_oid(&event.blob)
            )
        }
        Event::Finalized(event) => format!("finalized{}", because(entry, event.summary)),
        Event::Adopted(_) => adopted(entry, "snapshot"),
        Event::MetadataSet(event) => metadata(event),
        Event::Redacted(event) => redacted(event, entry),
        Event::Sealed(event) => sealed(event, entry),
    }
}

fn pipeline(event: &pipeline::Event, entry: &Entry) -> String {
    use pipeline::Event;
    match event {
        Event::Created(event) => format!("created with {}", limit(event.max_frames)),
        Event::FramePushed(event) => frame(event, entry),
        Event::FramesUsed(event) => {
            let frames = frame_list(&event.frames);
            format!(
                "frames {frames} used by step {} of plan {}{}",
                event.step,
                short(event.plan),
                inferred(event.inferred)
            )
        }
        Event::FramesDropped(event) => {
            let ranges = event.frames.iter();
            let ranges = ranges.map(|it| match it.first == it.last {
                true => it.first.to_string(),
                false => format!("{}-{}", it.first, it.last),
            });
            let ranges: Vec<String> = ranges.collect();
            format!(
                "frames {} dropped by the agent's program",
                ranges.join(", ")
            )
        }
        Event::MaxFramesSet(event) => format!("changed to {}", limit(event.max_frames)),
        Event::EvictionPolicySet(event) => {
            format!("eviction policy set to {}", event.policy())
        }
        Event::GlobalSummarySet(event) => match event.summary {
            Some(summary) => format!("global summary set to {}", quoted(entry, summary)),
            None => "global summary taken away".to_owned(),
        },
        Event::Adopted(_) => adopted(entry, "pipeline"),
        Event::MetadataSet(event) => metadata(event),
        Event::Redacted(event) => redacted(event, entry),
        Event::Sealed(event) => sealed(event, entry),
    }
}

fn limit(max_frames: u32) -> String {
    match max_frames {
        0 => "no limit of frames".to_owned(),
        1 => "a limit of 1 frame".to_owned(),
        n => format!("a limit of {n} frames"),
    }
}

fn frame(event: &FramePushed, entry: &Entry) -> String {
    let tokens = event
        .token_estimate
        .map(|n| format!(", {n} tokens"))
        .unwrap_or_default();
    let summary = quoted(entry, event.summary);
    format!(
        "frame {} pushed: {} {summary}{tokens}",
        event.frame_id, event.kind
    )
}
