//! Tests of the seal.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use annals_domain::metadata::Sealed;
use annals_domain::run::MetricsRecorded;
use annals_domain::{IntegrityHash, Kind, StreamKind, intent, pipeline, plan, run, snapshot, task};

use crate::fold::tests::sampled;
use crate::seal_hash;
use crate::testing::{Story, id, stream, time};

/// Seals an object of the story one second after its last event.
fn seal(story: &mut Story, kind: Kind) -> IntegrityHash {
    let view = story.view(kind, sampled(kind)).unwrap();
    let at = time(i64::try_from(story.records().len()).unwrap() + 1);
    let checksum = seal_hash(&view, at).unwrap();
    let sealed = Sealed {
        kind: kind.number(),
        object: sampled(kind),
        checksum,
    };
    let own = stream(kind.stream_kind(), id(1));
    match kind.stream_kind() {
        StreamKind::Intent => story.push(own, |_| intent::Event::from(sealed)),
        StreamKind::Plan => story.push(own, |_| plan::Event::from(sealed)),
        StreamKind::Task => story.push(own, |_| task::Event::from(sealed)),
        StreamKind::Run => story.push(own, |_| run::Event::from(sealed)),
        StreamKind::Snapshot => story.push(own, |_| snapshot::Event::from(sealed)),
        StreamKind::Pipeline => story.push(own, |_| pipeline::Event::from(sealed)),
        kind => panic!("git-internal has no {kind}"),
    };
    checksum
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
