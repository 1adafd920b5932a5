//! What is recorded in a run: tool invocations, patch sets, evidence,
//! provenance, usage, metrics.

use super::*;
use crate::testing::{json, texts};
use crate::{ArtifactRef, EvidenceId, ProvenanceId, StoredArtifact};

pub(super) fn tool_invocation() -> RecordToolInvocation {
    RecordToolInvocation {
        run: RUN,
        id: None,
        tool_name: "bash".into(),
        io_footprint: None,
        args: None,
        status: ToolStatus::Ok,
        duration_ms: Some(1_250),
        result_summary: None,
        artifacts: vec![],
        output: vec![],
    }
}

pub(super) fn evidence() -> RecordEvidence {
    RecordEvidence {
        run: RUN,
        id: None,
        patchset_id: None,
        kind: EvidenceKind::Test,
        tool: "cargo".into(),
        command_line: None,
        exit_code: None,
        summary: None,
        report_artifacts: vec![],
        report: vec![],
    }
}

pub(super) fn provenance() -> RecordProvenance {
    RecordProvenance {
        run: RUN,
        id: None,
        provider: "local".into(),
        model: "small".into(),
        parameters: None,
        temperature: None,
        max_tokens: None,
        token_usage: None,
    }
}

pub(super) fn usage() -> RecordUsage {
    RecordUsage {
        run: RUN,
        model: None,
        uncached_input_tokens: 1,
        cache_read_tokens: 2,
        cache_write_tokens: 3,
        cache_write_1h_tokens: 2,
        output_tokens: 4,
        reasoning_tokens: 1,
        web_searches: 1,
        cost_usd: None,
    }
}

pub(super) fn metrics() -> RecordMetrics {
    RecordMetrics {
        run: RUN,
        metrics: json(r#"{"files": 3}"#),
    }
}

fn artifact(store: &str, key: &str) -> ArtifactRef {
    ArtifactRef {
        store: store.into(),
        key: key.into(),
        content_type: None,
        size_bytes: None,
        hash: None,
        expires_at: None,
    }
}

fn propose() -> ProposePatchSet {
    ProposePatchSet {
        id: Some(PATCH),
        ..ProposePatchSet::new(RUN, DiffFormat::Unified)
    }
}

#[track_caller]
fn check_invalid(given: &Given, command: impl Into<Command>, named: &str) {
    let command = command.into();
    match given.decide(command.clone()) {
        Err(Refusal::Invalid { field, .. }) => assert_eq!(field, named),
        other => panic!("{command:?}: {other:?}"),
    }
}

#[test]
fn a_run_has_at_most_one_provenance() {
    let id = ProvenanceId(Uuid::from_u128(9));
    let first = RecordProvenance {
        id: Some(id),
        ..provenance()
    };
    for (status, given) in all_states() {
        let given = given.command(first.clone());
        assert_eq!(
            given.decide(provenance()),
            Err(Refusal::OnlyOne {
                kind: Kind::Provenance,
                run: RUN,
                existing: id.0
            }),
            "{status:?}"
        );
    }
}

#[test]
fn total_tokens_is_the_sum_of_input_and_output() {
    let used = |input_tokens, output_tokens, total_tokens, cost_usd| RecordProvenance {
        token_usage: Some(TokenUsage {
            input_tokens,
            output_tokens,
            total_tokens,
            cost_usd,
        }),
        ..provenance()
    };
    let given = created();
    for total in [None, Some(100)] {
        let emitted = given
            .decide(used(70, 30, total, Some(0.5)))
            .expect("accepted");
        let AnyEvent::Run(Event::ProvenanceRecorded(recorded)) = &emitted[0].event else {
            panic!("{emitted:?}");
        };
        let tokens = StoredTokens {
            input_tokens: 70,
            output_tokens: 30,
            cost_usd: Some(0.5),
        };
        assert_eq!(recorded.token_usage, Some(tokens));
    }
    for wrong in [0, 99, 101, u64::MAX] {
        check_invalid(
            &given,
            used(70, 30, Some(wrong), None),
            "token_usage.total_tokens",
        );
    }
    assert!(given.decide(used(u64::MAX, 0, None, None)).is_ok());
    check_invalid(&given, used(u64::MAX, 1, None, None), "token_usage");
    let much = |output_tokens| RecordUsage {
        output_tokens,
        ..usage()
    };
    // Six are there from the other fields.
    assert!(given.decide(much(u64::MAX - 6)).is_ok());
    check_invalid(&given, much(u64::MAX - 5), "output_tokens");
    let after = given.clone().command(much(u64::MAX - 6));
    check_invalid(&after, usage(), "output_tokens");
    check_invalid(&after, used(1, 0, None, None), "token_usage");
    for cost in [-0.01, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        check_invalid(&given, used(1, 1, None, Some(cost)), "cost_usd");
        let spent = RecordUsage {
            cost_usd: Some(cost),
            ..usage()
        };
        check_invalid(&given, spent, "cost_usd");
        if !cost.is_finite() {
            let hot = RecordProvenance {
                temperature: Some(cost),
                ..provenance()
            };
            check_invalid(&given, hot, "temperature");
        }
    }
}

#[test]
fn blank_names_are_refused() {
    let given = patching();
    let blank = || " \t".to_owned();
    let tool_name = RecordToolInvocation {
        tool_name: blank(),
        ..tool_invocation()
    };
    check_invalid(&given, tool_name, "tool_name");
    let tool = RecordEvidence {
        tool: blank(),
        ..evidence()
    };
    check_invalid(&given, tool, "tool");
    let kind = RecordEvidence {
        kind: EvidenceKind::Other(String::new()),
        ..evidence()
    };
    check_invalid(&given, kind, "kind");
    let provider = RecordProvenance {
        provider: blank(),
        ..provenance()
    };
    check_invalid(&given, provider, "provider");
    let model = RecordProvenance {
        model: blank(),
        ..provenance()
    };
    check_invalid(&given, model, "model");
    let error = FailRun {
        run: RUN,
        error: blank(),
    };
    check_invalid(&given, error, "error");
    let touched = TouchedFile {
        path: blank(),
        change_type: ChangeType::Add,
        lines_added: 0,
        lines_deleted: 0,
    };
    let path = ProposePatchSet {
        touched: vec![touched],
        ..propose()
    };
    check_invalid(&given, path, "touched.path");
}

#[test]
fn blank_stores_and_keys_of_artifacts_are_refused() {
    let given = patching();
    for (bad, field) in [
        (artifact("", "k"), "artifact.store"),
        (artifact("s", " "), "artifact.key"),
    ] {
        let proposed = ProposePatchSet {
            artifact: Some(bad.clone()),
            ..propose()
        };
        check_invalid(&given, proposed, field);
        let reported = RecordEvidence {
            report_artifacts: vec![bad.clone()],
            ..evidence()
        };
        check_invalid(&given, reported, field);
        let invoked = RecordToolInvocation {
            artifacts: vec![bad],
            ..tool_invocation()
        };
        check_invalid(&given, invoked, field);
    }
}

#[test]
fn a_patch_set_has_the_runs_baseline_unless_it_names_another() {
    let other = GitOid::Sha1([2; 20]);
    for (asked, stored) in [(None, BASE), (Some(other), other)] {
        let emitted = patching()
            .decide(ProposePatchSet {
                commit: asked,
                ..propose()
            })
            .expect("accepted");
        assert!(
            matches!(&emitted[0].event, AnyEvent::Run(Event::PatchSetProposed(event))
                if event.commit == Some(stored))
        );
    }
}

#[test]
fn a_diff_is_an_attachment_with_its_reference_or_elsewhere() {
    let diff = Some(Payload(b"--- a\n+++ b\n".to_vec()));
    let emitted = patching()
        .decide(ProposePatchSet {
            diff: diff.clone(),
            ..propose()
        })
        .expect("accepted");
    let AnyEvent::Run(Event::PatchSetProposed(proposed)) = &emitted[0].event else {
        panic!("{emitted:?}");
    };
    let stored = proposed.artifact.as_ref().expect("an artifact");
    let slot = stored.content.expect("its content");
    let piece = &emitted[0].pieces.list()[usize::from(slot.0)];
    assert!(piece.attachment);
    assert_eq!(piece.bytes, b"--- a\n+++ b\n");
    assert_eq!(stored.described_by_content(), stored.content);
    let both = ProposePatchSet {
        diff,
        artifact: Some(artifact("s3", "k")),
        ..propose()
    };
    check_invalid(&patching(), both, "diff");
}

/// What is stored of a part: the reference, and the content apart.
fn check_part(emitted: &[crate::Emitted], stored: &StoredArtifact, typed: &str, content: &[u8]) {
    let list = emitted[0].pieces.list();
    let piece = |slot: crate::Slot| &list[usize::from(slot.0)];
    let kept = piece(stored.content.expect("its content"));
    assert!(kept.attachment);
    assert_eq!(kept.bytes, content);
    assert_eq!(piece(stored.store).bytes, b"annals");
    let content_type = stored.content_type.expect("a type");
    assert_eq!(piece(content_type).bytes, typed.as_bytes());
    // What follows from the content is not stored: it would outlive the content.
    assert_eq!(stored.described_by_content(), stored.content);
    assert_eq!((stored.hash, stored.size_bytes), (None, None));
}

#[test]
fn reports_and_outputs_are_attachments_behind_their_references() {
    let bytes = || ContentPart::new("shot.png", [0x89, b'P', 0xff]);
    let text = || ContentPart {
        content_type: Some("application/xml".into()),
        ..ContentPart::new("junit.xml", "<x/>")
    };
    let elsewhere = || vec![artifact("s3", "k")];
    let emitted = created().decide(RecordEvidence {
        report_artifacts: elsewhere(),
        report: vec![text(), bytes()],
        ..evidence()
    });
    let emitted = emitted.expect("accepted");
    let AnyEvent::Run(Event::EvidenceRecorded(recorded)) = &emitted[0].event else {
        panic!("{emitted:?}");
    };
    let [outside, xml, png] = recorded.report_artifacts.as_slice() else {
        panic!("{recorded:?}");
    };
    assert_eq!(outside.content, None);
    let typed = "application/xml; name=\"junit.xml\"";
    check_part(&emitted, xml, typed, b"<x/>");
    let typed = "application/octet-stream; name=\"shot.png\"";
    check_part(&emitted, png, typed, &[0x89, b'P', 0xff]);
    let emitted = created().decide(RecordToolInvocation {
        artifacts: elsewhere(),
        output: vec![ContentPart::new("stdout", "ok\n")],
        ..tool_invocation()
    });
    let emitted = emitted.expect("accepted");
    let AnyEvent::Run(Event::ToolInvoked(invoked)) = &emitted[0].event else {
        panic!("{emitted:?}");
    };
    let [_, stdout] = invoked.artifacts.as_slice() else {
        panic!("{invoked:?}");
    };
    let typed = "text/plain; charset=utf-8; name=\"stdout\"";
    check_part(&emitted, stdout, typed, b"ok\n");
}

#[test]
fn each_part_has_a_name_of_its_own_and_a_plain_type() {
    let part = |name: &str| ContentPart::new(name, "x");
    let typed = |content_type: &str| ContentPart {
        content_type: Some(content_type.into()),
        ..part("a")
    };
    let bad = [
        vec![part(" ")],
        vec![part("a\nb")],
        vec![part(&"n".repeat(256))],
        vec![part("a"), part("b"), part("a")],
        vec![typed("")],
        vec![typed("text/plain\r\nx: y")],
        vec![typed("text/plain; Name=other")],
        (0..1_001).map(|n| part(&n.to_string())).collect(),
    ];
    for parts in bad {
        let report = RecordEvidence {
            report: parts.clone(),
            ..evidence()
        };
        check_invalid(&created(), report, "report");
        let output = RecordToolInvocation {
            output: parts,
            ..tool_invocation()
        };
        check_invalid(&created(), output, "output");
    }
    let most = RecordEvidence {
        report: (0..1_000).map(|n| part(&n.to_string())).collect(),
        ..evidence()
    };
    assert!(created().decide(most).is_ok());
}

#[test]
fn evidence_names_a_patch_set_of_its_own_run() {
    let given = patching().command(propose()).command(CreateRun {
        id: Some(RunId(Uuid::from_u128(9))),
        ..CreateRun::new(TASK)
    });
    let of = |run, patch_set| RecordEvidence {
        run,
        patchset_id: Some(patch_set),
        ..evidence()
    };
    assert!(given.decide(of(RUN, PATCH)).is_ok());
    for (run, patch_set) in [
        (RunId(Uuid::from_u128(9)), PATCH),
        (RUN, PatchSetId(Uuid::from_u128(99))),
    ] {
        assert_eq!(
            given.decide(of(run, patch_set)),
            Err(Refusal::ForeignPatchSet { patch_set, run })
        );
    }
}

#[test]
fn records_are_structure_and_content_apart() {
    let footprint = IoFootprint {
        paths_read: vec!["a".into(), "b".into()],
        paths_written: vec!["c".into()],
    };
    let emitted = created()
        .decide(RecordToolInvocation {
            io_footprint: Some(footprint),
            args: Some(json("[1, 2]")),
            result_summary: Some("fine".into()),
            ..tool_invocation()
        })
        .expect("accepted");
    assert_eq!(texts(&emitted), [["bash", "a", "b", "c", "[1,2]", "fine"]]);

    let id = EvidenceId(Uuid::from_u128(9));
    let emitted = created()
        .decide(RecordEvidence {
            id: Some(id),
            command_line: Some("cargo test".into()),
            exit_code: Some(-1),
            summary: Some("1 failed".into()),
            ..evidence()
        })
        .expect("accepted");
    assert_eq!(texts(&emitted), [["cargo", "cargo test", "1 failed"]]);
    assert_eq!(
        emitted[0].event.touches(RUN.0)[..],
        [(Kind::Evidence, id.0)]
    );
}
