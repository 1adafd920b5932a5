//! Every event sets the fields that their documentation says, and no other.

use std::collections::BTreeSet;

use annals_domain::{AnyEvent, Emitted, Kind, plan, run, snapshot};
use annals_wire::event_docs::{HEADER, sets};
use annals_wire::sample::samples;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::fold::tests::sampled;
use crate::testing::Story;

/// What there is before an event: the objects of its stream, so made that any
/// event makes a difference.
fn before(event: &Emitted) -> Story {
    const MAKING: &[&str] = &[
        "intent.submitted",
        "plan.drafted",
        "task.created",
        "run.created",
        "run.patch_set_proposed",
        "run.provenance_recorded",
        "snapshot.opened",
        "snapshot.item_added",
        "pipeline.created",
    ];
    let mut story = Story::new();
    for mut sample in samples() {
        let event_type = sample.event.event_type();
        let other = event_type != event.event.event_type();
        // A decision comes before its commit, and before nothing else: it ends the run.
        let is_decided = event.event.event_type() == "run.result_commit_recorded"
            && event_type == "run.decision_made";
        let is_making = MAKING.contains(&event_type) || is_decided;
        if sample.stream == event.stream && other && is_making {
            prepare(&mut sample.event);
            story.append(&sample);
        }
    }
    story
}

/// Steps and items are the first ones, and what is set later is not set yet.
fn prepare(event: &mut AnyEvent) {
    use plan::Event::{Drafted, StepFramesLinked, StepOutputRecorded};
    use plan::Event::{StepStatusChanged, StepTaskSpawned};
    use snapshot::Event::{BlobAttached, ItemAdded};
    match event {
        AnyEvent::Plan(Drafted(event)) => event.steps[0].task = None,
        AnyEvent::Plan(StepStatusChanged(event)) => event.index = 0,
        AnyEvent::Plan(StepFramesLinked(event)) => event.index = 0,
        AnyEvent::Plan(StepTaskSpawned(event)) => event.index = 0,
        AnyEvent::Plan(StepOutputRecorded(event)) => event.index = 0,
        AnyEvent::Run(run::Event::Created(event)) => event.snapshot = None,
        AnyEvent::Run(run::Event::ResultCommitRecorded(event)) => {
            event.decision = sampled(Kind::Decision).into();
        }
        AnyEvent::Snapshot(ItemAdded(event)) => event.index = 0,
        AnyEvent::Snapshot(BlobAttached(event)) => event.index = 0,
        _ => {}
    }
}

/// The objects that an event may set something of.
fn objects(event: &Emitted) -> Vec<(Kind, Uuid)> {
    Kind::git_internal()
        .filter(|kind| kind.stream_kind() == event.stream.kind)
        .map(|kind| (kind, call(event, kind).unwrap_or_else(|| sampled(kind))))
        .collect()
}

/// The tool call that an event is about, where that is the kind: the samples of a call's life have one of their own.
fn call(event: &Emitted, kind: Kind) -> Option<Uuid> {
    match &event.event {
        AnyEvent::Run(event) if kind == Kind::ToolInvocation => run::call_of(event).map(|it| it.0),
        _ => None,
    }
}

fn fields(story: &Story, kind: Kind, id: Uuid) -> Map<String, Value> {
    let json = story
        .view(kind, id)
        .map(|view| serde_json::to_value(view).unwrap());
    match json {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// Fields whose values differ. What creates an object sets them all; the
/// header's are said once for all events.
fn changed(before: &Map<String, Value>, after: &Map<String, Value>) -> BTreeSet<String> {
    let created = before.is_empty();
    after
        .iter()
        .filter(|(name, value)| before.get(*name) != Some(*value))
        .map(|(name, _)| name.clone())
        .filter(|name| !matches!(name.as_str(), "updated_at" | "checksum"))
        .filter(|name| !created || !HEADER.contains(&name.as_str()))
        .collect()
}

#[test]
fn events_set_what_the_catalogue_says() {
    for mut sample in samples() {
        // An alias is not an object.
        if sample.stream.kind.kind().is_none() {
            continue;
        }
        let event_type = sample.event.event_type();
        let mut story = before(&sample);
        if event_type != "run.created" {
            prepare(&mut sample.event);
        }
        let adopts = sample.event.adoption().is_some();
        let was: Vec<_> = objects(&sample)
            .into_iter()
            .map(|(kind, id)| (kind, id, fields(&story, kind, id)))
            .collect();
        story = if adopts { Story::new() } else { story };
        story.append(&sample);
        for (kind, id, was) in was {
            let was = if adopts { Map::new() } else { was };
            let found = changed(&was, &fields(&story, kind, id));
            let said = sets(event_type).iter().find(|(of, _)| *of == kind);
            let said = said.into_iter().flat_map(|(_, fields)| *fields);
            let said: BTreeSet<String> = said.map(|field| (*field).to_owned()).collect();
            assert_eq!(found, said, "{event_type} and the {kind}");
        }
    }
}
