//! Tests of the seal.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use annals_domain::metadata::Sealed;
use annals_domain::redaction::{Redacted, RemovedPieces};
use annals_domain::run::MetricsRecorded;
use annals_domain::{
    AnyEvent, DecisionId, Emitted, IntegrityHash, Kind, Pieces, StreamKind, intent, pipeline, plan,
    run, snapshot, task,
};

use crate::fold::tests::sampled;
use crate::testing::{Story, examples, fold, id, redacted, stream, time};
use crate::{HeaderView, ObjectView, SealCheck, check_seal, history_entry, seal_hash};

/// How a seal has its checksum.
#[derive(Clone, Copy)]
enum As {
    Content,
    /// As an older version stored it.
    Structure,
}

/// Seals an object of the story one second after its last event.
fn seal(story: &mut Story, kind: Kind) -> IntegrityHash {
    let view = story.view(kind, sampled(kind)).unwrap();
    let at = time(i64::try_from(story.records().len()).unwrap() + 1);
    let checksum = seal_hash(&view, at).unwrap();
    seal_with(story, kind, checksum, As::Content);
    checksum
}

fn seal_with(story: &mut Story, kind: Kind, checksum: IntegrityHash, how: As) {
    let mut pieces = Pieces::new();
    let (content, structure) = match how {
        As::Content => (Some(pieces.text(checksum.to_string())), None),
        As::Structure => (None, Some(checksum)),
    };
    let sealed = Sealed {
        kind: kind.number(),
        object: sampled(kind),
        checksum: content,
        old_checksum: structure,
    };
    let event = match kind.stream_kind() {
        StreamKind::Intent => AnyEvent::Intent(intent::Event::from(sealed)),
        StreamKind::Plan => AnyEvent::Plan(plan::Event::from(sealed)),
        StreamKind::Task => AnyEvent::Task(task::Event::from(sealed)),
        StreamKind::Run => AnyEvent::Run(run::Event::from(sealed)),
        StreamKind::Snapshot => AnyEvent::Snapshot(snapshot::Event::from(sealed)),
        StreamKind::Pipeline => AnyEvent::Pipeline(pipeline::Event::from(sealed)),
        kind => panic!("git-internal has no {kind}"),
    };
    story.append(&Emitted {
        stream: stream(kind.stream_kind(), id(1)),
        event,
        pieces,
    });
}

/// An object of the story, as it is once content of some records is removed.
fn without(story: &Story, kind: Kind, removes: impl Fn(usize) -> bool) -> ObjectView {
    let records = story.records();
    let entries: Vec<_> = (0..)
        .zip(&records)
        .map(|(index, record)| match removes(index) {
            true => story.entry(&redacted(record, |_| true)),
            false => story.entry(record),
        })
        .collect();
    fold(kind, sampled(kind), &entries).unwrap()
}

#[test]
fn a_sealed_object_has_the_checksum_of_its_own_json() {
    for kind in Kind::git_internal() {
        let mut story = Story::of_samples(kind.stream_kind());
        let checksum = seal(&mut story, kind);
        let view = story.view(kind, sampled(kind)).unwrap();
        assert_eq!(view.header().checksum, Some(checksum), "{kind}");
        let object = serde_json::from_str(&view.to_json().unwrap()).unwrap();
        assert_eq!(IntegrityHash::seal(&object), checksum, "{kind}");
    }
}

#[test]
fn the_time_of_the_seal_counts() {
    let story = Story::of_samples(StreamKind::Intent);
    let view = story.view(Kind::Intent, id(1)).unwrap();
    let hash = |seconds| seal_hash(&view, time(seconds)).unwrap();
    assert_eq!(hash(100), hash(100));
    assert_ne!(hash(100), hash(101));
}

#[test]
fn the_seal_of_one_object_is_not_broken_by_its_neighbour() {
    let mut story = Story::of_samples(StreamKind::Run);
    let checksum = seal(&mut story, Kind::Decision);
    story.push(stream(StreamKind::Run, id(1)), |pieces| {
        run::Event::from(MetricsRecorded {
            metrics: pieces.text("1"),
        })
    });
    let sealed = |kind| story.view(kind, sampled(kind)).unwrap().header().checksum;
    assert_eq!(sealed(Kind::Decision), Some(checksum));
    assert_eq!(
        sealed(Kind::Run),
        None,
        "the metrics broke the run's own seal"
    );
}

/// Seals all objects of a stream and lets an event happen: it changes the headers of those
/// that it touches, and no other.
fn check_touched(happens: &Emitted, is_touched: impl Fn(Kind) -> bool) {
    let own = happens.stream.kind;
    let what = happens.event.event_type();
    let mut story = Story::of_samples(own);
    let kinds: Vec<Kind> = Kind::git_internal()
        .filter(|kind| kind.stream_kind() == own)
        .collect();
    for kind in &kinds {
        seal(&mut story, *kind);
    }
    let headers = |story: &Story| -> Vec<HeaderView> {
        let view = |kind: &Kind| story.view(*kind, sampled(*kind)).unwrap();
        let all = kinds.iter().map(|kind| view(kind).header().clone());
        all.collect()
    };
    let before = headers(&story);
    story.append(happens);
    for ((kind, before), after) in kinds.iter().zip(before).zip(headers(&story)) {
        assert!(before.checksum.is_some(), "{what}: {kind}");
        if is_touched(*kind) {
            assert!(after.updated_at > before.updated_at, "{what}: {kind}");
            assert_ne!(after.checksum, before.checksum, "{what}: {kind}");
        } else {
            assert_eq!(after, before, "{what}: {kind}");
        }
    }
}

/// What an event touches, where it is not just the object that its stream is of.
fn touches_others(event_type: &str) -> Option<&'static [Kind]> {
    let kinds: &'static [Kind] = match event_type {
        // Of another call than the one that is sealed.
        "run.tool_requested" | "run.tool_decided" | "run.tool_begun" | "run.tool_ended" => &[],
        "intent.task_added"
        | "plan.revised"
        | "plan.assigned"
        | "plan.restored"
        | "pipeline.frames_used"
        | "run.ended_after_intent" => &[],
        "run.patch_set_proposed" => &[Kind::PatchSet, Kind::Run],
        "run.patch_set_applied"
        | "run.patch_set_rejected"
        | "run.patch_set_reverted"
        | "run.rationale_overridden" => &[Kind::PatchSet],
        "run.evidence_recorded" => &[Kind::Evidence],
        "run.tool_invoked" => &[Kind::ToolInvocation],
        "run.provenance_recorded" => &[Kind::Provenance],
        "run.usage_recorded" => &[Kind::Provenance, Kind::Run],
        "run.decision_made" => &[Kind::Decision, Kind::Run],
        "run.result_commit_recorded" => &[Kind::Decision],
        _ => return None,
    };
    Some(kinds)
}

#[test]
fn each_event_changes_the_headers_of_what_it_touches_and_no_other() {
    let streams = [
        StreamKind::Intent,
        StreamKind::Plan,
        StreamKind::Task,
        StreamKind::Run,
        StreamKind::Snapshot,
        StreamKind::Pipeline,
    ];
    for mut example in streams.into_iter().flat_map(examples) {
        if example.event.adoption().is_some() {
            continue;
        }
        if let AnyEvent::Run(run::Event::ResultCommitRecorded(event)) = &mut example.event {
            event.decision = DecisionId(sampled(Kind::Decision));
        }
        let others = touches_others(example.event.event_type());
        let own = example.stream.kind.kind();
        check_touched(&example, |kind| match others {
            Some(touched) => touched.contains(&kind),
            None => own == Some(kind),
        });
    }
}

#[test]
fn a_redaction_touches_the_objects_that_lost_content() {
    let lost = [Kind::PatchSet, Kind::Decision];
    let mut pieces = Pieces::new();
    let event = Redacted {
        removed: vec![RemovedPieces {
            position: 6,
            pieces: vec![0],
        }],
        objects: lost.map(|kind| (kind.number(), sampled(kind))).to_vec(),
        reason: pieces.text("a password"),
    };
    let redacted = Emitted {
        stream: stream(StreamKind::Run, id(1)),
        event: event.in_stream(StreamKind::Run),
        pieces,
    };
    check_touched(&redacted, |kind| lost.contains(&kind));
}

#[test]
fn a_seal_is_checked_and_one_whose_checksum_was_removed_says_so() {
    for kind in Kind::git_internal() {
        let mut story = Story::of_samples(kind.stream_kind());
        let check = |story: &Story| check_seal(&story.view(kind, sampled(kind)).unwrap()).unwrap();
        assert_ne!(check(&story), SealCheck::Holds, "{kind}");
        seal(&mut story, kind);
        assert_eq!(check(&story), SealCheck::Holds, "{kind}");
        let last = story.records().len() - 1;
        let view = without(&story, kind, |index| index == last);
        assert_eq!(check_seal(&view).unwrap(), SealCheck::Removed, "{kind}");
        assert_eq!(view.header().checksum, None, "{kind}");
        let record = redacted(&story.records()[last], |_| true);
        let line = history_entry(&story.entry(&record)).summary;
        assert!(line.contains("removed"), "{line}");
    }
}

#[test]
fn a_seal_of_an_older_version_is_checked_as_ever() {
    for kind in Kind::git_internal() {
        let mut story = Story::of_samples(kind.stream_kind());
        let at = time(i64::try_from(story.records().len()).unwrap() + 1);
        let view = story.view(kind, sampled(kind)).unwrap();
        let checksum = seal_hash(&view, at).unwrap();
        seal_with(&mut story, kind, checksum, As::Structure);
        let view = story.view(kind, sampled(kind)).unwrap();
        assert_eq!(view.header().checksum, Some(checksum), "{kind}");
        assert_eq!(check_seal(&view).unwrap(), SealCheck::Holds, "{kind}");
        // Nothing of it can be removed.
        let last = story.records().len() - 1;
        let view = without(&story, kind, |index| index == last);
        let recorded = view.header().checksum;
        assert_eq!(recorded, Some(checksum), "{kind}");
    }
}

#[test]
fn a_checksum_that_is_another_one_does_not_hold() {
    let mut story = Story::of_samples(StreamKind::Intent);
    let recorded = IntegrityHash::of(b"something else");
    seal_with(&mut story, Kind::Intent, recorded, As::Content);
    let view = story.view(Kind::Intent, id(1)).unwrap();
    let found = IntegrityHash::seal(&serde_json::to_value(&view).unwrap());
    let differs = SealCheck::Differs { recorded, found };
    assert_eq!(check_seal(&view).unwrap(), differs);
    // What was taken over has the seal of the system that it came from.
    let story = Story::of_adopted(StreamKind::Intent);
    let view = story.view(Kind::Intent, id(1)).unwrap();
    assert!(view.header().checksum.is_some());
    assert_eq!(check_seal(&view).unwrap(), SealCheck::Foreign);
}
