//! Given, when, then for visibility, tags, external ids and seals.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::decide::in_stream;
use super::*;
use crate::intent::CreateIntent;
use crate::observation::{ObservationKind, RecordObservation};
use crate::pipeline::CreatePipeline;
use crate::plan::CreatePlan;
use crate::run::{
    CreateRun, Decide, DecisionType, DiffFormat, EvidenceKind, ProposePatchSet, RecordEvidence,
    RecordProvenance, RecordToolInvocation, StartPatching, StartValidation, ToolStatus,
};
use crate::session::{CreateSession, PolicyProfile, RepoRef, SessionConfig, WorkspaceRef};
use crate::snapshot::{FinalizeSnapshot, OpenSnapshot, SelectionStrategy};
use crate::task::CreateTask;
use crate::testing::{Given, events, stream, texts};
use crate::{
    AnyEvent, Dependence, Refusal, RunId, SessionId, SnapshotId, StreamKind, StreamRef, TaskId, run,
};

const RUN: RunId = RunId(Uuid::from_u128(14));
const SNAPSHOT: SnapshotId = SnapshotId(Uuid::from_u128(8));

/// One object of each kind, its id being the kind's number.
fn one_of_each() -> Given {
    let id = |kind: Kind| Uuid::from_u128(u128::from(kind.number()));
    let task = TaskId(id(Kind::Task));
    Given::new()
        .command(CreateIntent {
            id: Some(id(Kind::Intent).into()),
            prompt: "do".into(),
            parent: None,
        })
        .command(CreatePlan {
            id: Some(id(Kind::Plan).into()),
            ..CreatePlan::default()
        })
        .command(CreatePipeline {
            id: Some(id(Kind::ContextPipeline).into()),
            max_frames: None,
            policy: None,
        })
        .command(OpenSnapshot {
            id: Some(SNAPSHOT),
            selection_strategy: SelectionStrategy::Explicit,
            items: vec![],
            summary: None,
        })
        .command(CreateTask {
            id: Some(task),
            ..CreateTask::new("work")
        })
        .command(CreateRun {
            id: Some(RUN),
            ..CreateRun::new(task)
        })
        .command(RecordToolInvocation {
            run: RUN,
            id: Some(id(Kind::ToolInvocation).into()),
            tool_name: "bash".into(),
            io_footprint: None,
            args: None,
            status: ToolStatus::Ok,
            duration_ms: Some(1_250),
            result_summary: None,
            artifacts: vec![],
            output: vec![],
        })
        .command(RecordProvenance {
            run: RUN,
            id: Some(id(Kind::Provenance).into()),
            provider: "local".into(),
            model: "small".into(),
            parameters: None,
            temperature: None,
            max_tokens: None,
            token_usage: None,
        })
        .command(StartPatching { run: RUN })
        .command(ProposePatchSet {
            id: Some(id(Kind::PatchSet).into()),
            ..ProposePatchSet::new(RUN, DiffFormat::GitDiff)
        })
        .command(StartValidation { run: RUN })
        .command(RecordEvidence {
            run: RUN,
            id: Some(id(Kind::Evidence).into()),
            patchset_id: None,
            kind: EvidenceKind::Test,
            tool: "cargo".into(),
            command_line: None,
            exit_code: None,
            summary: None,
            report_artifacts: vec![],
            report: vec![],
        })
        .command(Decide {
            id: Some(id(Kind::Decision).into()),
            ..Decide::new(RUN, DecisionType::Retry)
        })
        .command(CreateSession {
            config: session_config(SessionId(id(Kind::Session))),
            approval_expiry_seconds: None,
            pause_after_failures: None,
        })
        .command(RecordObservation {
            id: Some(id(Kind::Observation).into()),
            ..RecordObservation::new(ObservationKind::Epiphany, "the cache grows")
        })
}

fn session_config(session_id: SessionId) -> SessionConfig {
    SessionConfig {
        session_id,
        parent_session_id: None,
        plan_node_id: None,
        policy: PolicyProfile {
            name: "p".into(),
            ..PolicyProfile::default()
        },
        repo: RepoRef {
            name: "app".into(),
            path: "/app".into(),
        },
        workspace: WorkspaceRef {
            path: "/work".into(),
        },
        work_item: None,
        agent_profile: "coder".into(),
    }
}

fn public(object: Uuid) -> SetMetadata {
    SetMetadata {
        object,
        visibility: Some(Visibility::Public),
        tags: None,
        external_ids: None,
    }
}

fn pairs(pairs: &[(&str, &str)]) -> Option<Ordered<String>> {
    let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    Some(pairs.iter().map(owned).collect())
}

/// The stream that holds an object and the kind that the event names.
fn place(kind: Kind) -> (StreamRef, u8) {
    let own = u128::from(kind.number());
    let holder = match kind.stream_kind() {
        StreamKind::Run => stream(StreamKind::Run, 14),
        aggregate => stream(aggregate, own),
    };
    (holder, kind.number())
}

#[test]
fn every_kind_of_object_has_metadata() {
    let given = one_of_each();
    for kind in Kind::ALL {
        let object = Uuid::from_u128(u128::from(kind.number()));
        let (holder, number) = place(*kind);
        let emitted = given.decide(public(object)).expect("accepted");
        assert_eq!(emitted.len(), 1);
        assert_eq!(emitted[0].stream, holder, "{kind}");
        assert_eq!(emitted[0].event.touches(holder.id)[..], [(*kind, object)]);
        let set = MetadataSet {
            kind: number,
            object,
            visibility: Some(Visibility::Public),
            tags: None,
            external_ids: None,
        };
        let event = match kind {
            Kind::Session => AnyEvent::Session(set.into()),
            Kind::Observation => AnyEvent::Observation(set.into()),
            _ => in_stream(holder, set).unwrap(),
        };
        assert_eq!(events(&emitted), [event]);
    }
}

#[test]
fn every_kind_of_object_of_document_000_can_be_sealed() {
    let given = one_of_each();
    let checksum = IntegrityHash::of(b"the object");
    for kind in Kind::git_internal() {
        let object = Uuid::from_u128(u128::from(kind.number()));
        let (holder, number) = place(kind);
        let seal = Seal {
            object,
            checksum: Some(checksum),
        };
        let emitted = given.decide(seal).expect("accepted");
        let sealed = Sealed {
            kind: number,
            object,
            checksum: Some(Slot(0)),
            old_checksum: None,
        };
        assert_eq!(texts(&emitted), [[checksum.to_string()]], "it is content");
        assert_eq!(Sealed::of(&emitted[0].event), Some(&sealed));
        assert_eq!(emitted[0].stream, holder, "{kind}");
        assert_eq!(events(&emitted), [in_stream(holder, sealed).unwrap()]);
        assert_eq!(emitted[0].event.touches(holder.id)[..], [(kind, object)]);
    }
}

#[test]
fn what_document_000_has_not_has_no_seal() {
    for kind in [Kind::Session, Kind::Observation] {
        let seal = Seal {
            object: Uuid::from_u128(u128::from(kind.number())),
            checksum: Some(IntegrityHash::of(b"the object")),
        };
        let refusal = one_of_each().decide(seal).unwrap_err();
        assert!(refusal.to_string().contains(kind.object_type()));
        assert!(matches!(
            refusal,
            Refusal::Invalid {
                field: "object",
                ..
            }
        ));
    }
}

#[test]
fn labels_are_content_in_the_order_given() {
    let emitted = one_of_each()
        .decide(SetMetadata {
            object: RUN.0,
            visibility: None,
            tags: pairs(&[("b", "2"), ("a", "1")]),
            external_ids: pairs(&[("tracker", "T-1")]),
        })
        .expect("accepted");
    assert_eq!(texts(&emitted), [["b", "2", "a", "1", "tracker", "T-1"]]);
    let set = MetadataSet {
        kind: Kind::Run.number(),
        object: RUN.0,
        visibility: None,
        tags: Some(vec![(Slot(0), Slot(1)), (Slot(2), Slot(3))]),
        external_ids: Some(vec![(Slot(4), Slot(5))]),
    };
    assert_eq!(events(&emitted), [AnyEvent::Run(set.into())]);
}

#[test]
fn empty_labels_take_all_away_and_are_not_nothing() {
    let cleared = SetMetadata {
        object: RUN.0,
        visibility: None,
        tags: pairs(&[]),
        external_ids: None,
    };
    let emitted = one_of_each().decide(cleared).expect("accepted");
    assert!(
        matches!(&emitted[0].event, AnyEvent::Run(run::Event::MetadataSet(set))
            if set.tags == Some(vec![]) && set.external_ids.is_none())
    );
    let nothing = SetMetadata {
        object: RUN.0,
        visibility: None,
        tags: None,
        external_ids: None,
    };
    assert!(matches!(
        one_of_each().decide(nothing),
        Err(Refusal::Invalid { .. })
    ));
}

#[test]
fn an_object_that_is_not_there_has_no_metadata_and_no_seal() {
    let given = one_of_each();
    let object = Uuid::from_u128(99);
    let unknown = Err(Refusal::Unknown { id: object });
    assert_eq!(given.decide(public(object)), unknown);
    let checksum = Some(IntegrityHash::of(b""));
    assert_eq!(given.decide(Seal { object, checksum }), unknown);
}

#[test]
fn a_seal_needs_its_checksum() {
    let seal = Seal {
        object: RUN.0,
        checksum: None,
    };
    assert!(matches!(
        one_of_each().decide(seal),
        Err(Refusal::Invalid {
            field: "checksum",
            ..
        })
    ));
}

/// Every write to a stream depends on its version, so that the states which
/// the facade keeps are those that the log has.
#[test]
fn a_seal_and_metadata_are_guarded_on_the_objects_version() {
    let given = one_of_each();
    let run = stream(StreamKind::Run, 14);
    let dependence = |command: crate::Command| {
        let (_, guards) = given.decide_guarded(command).expect("accepted");
        let [(stream, dependence, version)] = guards.try_into().unwrap();
        assert_eq!((stream, version), (run, given.loaded(run).version));
        dependence
    };
    let checksum = Some(IntegrityHash::of(b""));
    let seal = Seal {
        object: RUN.0,
        checksum,
    };
    assert_eq!(dependence(seal.into()), Dependence::State);
    assert_eq!(dependence(public(RUN.0).into()), Dependence::State);
}

#[test]
fn metadata_and_seals_are_taken_in_every_state_and_change_none() {
    let mut given = one_of_each().command(FinalizeSnapshot {
        snapshot: SNAPSHOT,
        summary: None,
    });
    for kind in Kind::ALL {
        let object = Uuid::from_u128(u128::from(kind.number()));
        let (holder, _) = place(*kind);
        let before = format!("{:?}", given.loaded(holder).state);
        given.execute(public(object));
        if kind.is_git_internal() {
            given.execute(Seal {
                object,
                checksum: Some(IntegrityHash::of(b"")),
            });
        }
        let after = given.loaded(holder);
        assert_eq!(format!("{:?}", after.state), before, "{kind}");
    }
}
