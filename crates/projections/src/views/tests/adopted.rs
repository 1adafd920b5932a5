//! What becomes of an object that was taken over.

use annals_domain::pipeline::{self, AdoptedFrame, FrameKind, FramePushed, MaxFramesSet};
use annals_domain::{AnyEvent, Emitted, FrameId, Kind, Slot, StreamKind, run};

use crate::fold::tests::sampled;
use crate::testing::{Story, id, stream, time};
use crate::{ContextPipelineView, ObjectView};

fn pipeline_of(story: &Story) -> ContextPipelineView {
    match story.view(Kind::ContextPipeline, id(1)) {
        Some(ObjectView::ContextPipeline(view)) => view,
        other => panic!("{other:?}"),
    }
}

/// The wire's example of an adopted object, without its lists.
fn continuing(mut sample: Emitted, change: impl FnOnce(&mut AnyEvent)) -> Emitted {
    change(&mut sample.event);
    sample
}

fn sample(event_type: &str) -> Emitted {
    annals_wire::sample::samples()
        .into_iter()
        .find(|sample| sample.event.event_type() == event_type)
        .unwrap()
}

#[test]
fn an_event_of_ours_ends_what_was_kept_as_a_fact() {
    for kind in Kind::git_internal() {
        let mut story = Story::of_adopted(kind.stream_kind());
        let header = |story: &Story| story.view(kind, sampled(kind)).unwrap().header().clone();
        let before = header(&story);
        let adopted = before.adopted.clone().unwrap();
        assert!(adopted.untouched && adopted.violations.len() == 1, "{kind}");
        assert!(before.checksum.is_some() && before.schema_version == 2);
        story.append(&Emitted {
            stream: stream(kind.stream_kind(), id(1)),
            ..annals_wire::sample::samples()
                .into_iter()
                .filter(|sample| sample.stream.kind == kind.stream_kind())
                .find_map(|sample| metadata_of(kind, sample))
                .unwrap()
        });
        let after = header(&story);
        assert!(!after.adopted.unwrap().untouched, "{kind}");
        assert_eq!(after.checksum, None, "{kind}");
        assert_eq!(after.schema_version, 1, "{kind}");
        assert_eq!(after.created_at, before.created_at, "{kind}");
        assert!(after.updated_at > before.updated_at, "{kind}");
    }
}

/// The example of a `metadata_set`, about the example of this kind.
fn metadata_of(kind: Kind, mut sample: Emitted) -> Option<Emitted> {
    use annals_domain::{intent, plan, snapshot, task};
    let set = match &mut sample.event {
        AnyEvent::Intent(intent::Event::MetadataSet(set))
        | AnyEvent::Plan(plan::Event::MetadataSet(set))
        | AnyEvent::Task(task::Event::MetadataSet(set))
        | AnyEvent::Run(run::Event::MetadataSet(set))
        | AnyEvent::Snapshot(snapshot::Event::MetadataSet(set))
        | AnyEvent::Pipeline(pipeline::Event::MetadataSet(set)) => set,
        _ => return None,
    };
    set.kind = kind.number();
    set.object = sampled(kind);
    Some(sample)
}

#[test]
fn lists_go_on_and_change_nothing_else() {
    let mut story = Story::of_adopted(StreamKind::Run);
    let before = story.view(Kind::Run, id(1)).unwrap();
    story.append(&continuing(sample("run.adopted"), |event| {
        if let AnyEvent::Run(run::Event::Adopted(event)) = event {
            event.object = None;
        }
    }));
    let after = story.view(Kind::Run, id(1)).unwrap();
    assert_eq!(before.header(), after.header());
    let (ObjectView::Run(before), ObjectView::Run(after)) = (before, after) else {
        panic!("runs");
    };
    let twice = [before.patchsets.clone(), before.patchsets].concat();
    assert_eq!(after.patchsets, twice);
}

#[test]
fn what_is_adopted_again_replaces_what_was_there() {
    let mut story = Story::of_adopted(StreamKind::Run);
    story.append(&sample("run.adopted"));
    let again = story.view(Kind::Run, id(1));
    assert_eq!(
        again,
        Story::of_adopted(StreamKind::Run).view(Kind::Run, id(1))
    );
}

/// Frames keep the numbers that they came with, in any order, and the
/// next push evicts by age.
#[test]
fn adopted_frames_keep_their_numbers() {
    let mut story = Story::new();
    let own = stream(StreamKind::Pipeline, id(1));
    let adopted = continuing(sample("pipeline.adopted"), |event| {
        if let AnyEvent::Pipeline(pipeline::Event::Adopted(event)) = event {
            let frame = |number| AdoptedFrame {
                frame_id: FrameId(number),
                kind: FrameKind::ToolCall,
                summary: Slot(0),
                data: None,
                created_at: time(0),
                token_estimate: Some(1),
            };
            event.frames = [7, 3, 5].map(frame).to_vec();
        }
    });
    story.append(&adopted);
    let numbers = |view: &ContextPipelineView| -> Vec<u64> {
        view.frames().map(|frame| frame.frame_id.0).collect()
    };
    let view = pipeline_of(&story);
    assert_eq!(numbers(&view), [7, 3, 5]);
    assert_eq!(view.next_frame_id, FrameId(70_001));
    assert!(view.frame_by_id(FrameId(3)).is_some());
    assert!(view.frame_by_id(FrameId(0)).is_none());
    story.push(own, |_| {
        pipeline::Event::from(MaxFramesSet { max_frames: 2 })
    });
    story.push(own, |pieces| {
        pipeline::Event::from(FramePushed {
            frame_id: FrameId(70_001),
            kind: FrameKind::ToolCall,
            summary: pieces.text("new"),
            data: None,
            content: None,
            token_estimate: None,
        })
    });
    let view = pipeline_of(&story);
    assert_eq!(numbers(&view), [5, 70_001]);
    let evicted: Vec<u64> = view.evicted.iter().map(|gone| gone.frame.0).collect();
    assert_eq!(evicted, [7, 3]);
}
