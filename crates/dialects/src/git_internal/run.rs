//! Runs and the objects that belong to one.

use annals_domain::run::{
    self, AdoptedPatchSet, AdoptedRun, AdoptedTokens, ApplyStatus, ChangeType, DecisionAdopted,
    DecisionMade, DecisionType, DiffFormat, EvidenceAdopted, EvidenceKind, EvidenceRecorded,
    PatchSetAdopted, ProvenanceAdopted, RunStatus, StoredFootprint, StoredTouchedFile,
    ToolInvocationAdopted, ToolInvoked, ToolStatus,
};
use annals_domain::{
    AnyEvent, ArtifactRef, DecisionId, Environment, EvidenceId, GitOid, Json, PatchSetId, Pieces,
    PlanId, ProvenanceId, SnapshotId, StoredArtifact, StoredEnvironment, TaskId, ToolInvocationId,
};
use uuid::Uuid;

use super::fields::{Fields, Read};
use super::header::{Part, StoreHeader, artifact};
use super::parts::{Longest, cut};

fn environment(fields: &mut Fields<'_>) -> Read<Environment> {
    let os: String = fields.required(&["os"])?;
    let arch: String = fields.required(&["arch"])?;
    let cwd: String = fields.required(&["cwd"])?;
    Ok(Environment::new(os, arch, cwd).with_extra(fields.rest()?))
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Run {
    pub(super) task: TaskId,
    pub(super) plan: Option<PlanId>,
    pub(super) commit: Option<GitOid>,
    pub(super) status: RunStatus,
    pub(super) snapshot: Option<SnapshotId>,
    pub(super) patchsets: Vec<PatchSetId>,
    metrics: Option<Json>,
    pub(super) error: Option<String>,
    environment: Option<Environment>,
}

impl Run {
    pub(super) fn read(fields: &mut Fields<'_>) -> Read<Run> {
        Ok(Run {
            task: fields.required(&["task"])?,
            plan: fields.optional(&["plan"])?,
            commit: fields.optional(&["commit"])?,
            status: fields.required(&["status"])?,
            snapshot: fields.optional(&["snapshot"])?,
            patchsets: fields.or_default(&["patchsets"])?,
            metrics: fields.json(&["metrics"])?,
            error: fields.optional(&["error"])?,
            environment: fields.object(&["environment"], environment)?,
        })
    }

    pub(super) fn lists(&self, longest: &mut Longest) {
        if let Some(environment) = &self.environment {
            longest.see(&environment.extra.0, || "environment".to_owned());
        }
    }

    pub(super) fn parts(&self, header: StoreHeader<'_>) -> Vec<Part> {
        let parts = cut(self.patchsets.clone(), |_| 17);
        let parts = parts.into_iter().enumerate().map(|(part, patchsets)| {
            let mut pieces = Pieces::new();
            let object = (part == 0).then(|| self.object(header, &mut pieces));
            (
                AnyEvent::Run(run::Adopted { object, patchsets }.into()),
                pieces,
            )
        });
        parts.collect()
    }

    fn object(&self, header: StoreHeader<'_>, pieces: &mut Pieces) -> AdoptedRun {
        AdoptedRun {
            header: header(pieces),
            task: self.task,
            plan: self.plan,
            commit: self.commit,
            status: self.status,
            snapshot: self.snapshot,
            metrics: pieces.optional_json(self.metrics.as_ref()),
            error: pieces.optional_text(self.error.as_deref()),
            environment: self
                .environment
                .as_ref()
                .map(|environment| StoredEnvironment::store(environment, pieces)),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
struct TouchedFile {
    path: String,
    change_type: ChangeType,
    lines_added: u32,
    lines_deleted: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct PatchSet {
    pub(super) run: Uuid,
    pub(super) commit: Option<GitOid>,
    format: DiffFormat,
    artifact: Option<ArtifactRef>,
    touched: Vec<TouchedFile>,
    rationale: Option<String>,
    apply_status: ApplyStatus,
}

impl PatchSet {
    pub(super) fn read(fields: &mut Fields<'_>) -> Read<PatchSet> {
        let apply_status = fields.required(&["apply_status"])?;
        if apply_status == ApplyStatus::Reverted {
            let reason = "invalid apply status \"reverted\": expected proposed, applied or \
                          rejected";
            return Err(fields.wrong("apply_status", reason));
        }
        Ok(PatchSet {
            run: fields.required(&["run"])?,
            commit: fields.optional(&["commit"])?,
            format: fields.required(&["format", "diff_format"])?,
            artifact: fields.object(&["artifact", "diff_artifact"], artifact)?,
            touched: fields.list(&["touched", "touched_files"], |file| {
                Ok(TouchedFile {
                    path: file.not_blank(&["path"])?,
                    change_type: file.required(&["change_type"])?,
                    lines_added: file.required(&["lines_added"])?,
                    lines_deleted: file.required(&["lines_deleted"])?,
                })
            })?,
            rationale: fields.optional(&["rationale"])?,
            apply_status,
        })
    }

    pub(super) fn parts(&self, id: Uuid, header: StoreHeader<'_>) -> Vec<Part> {
        let parts = cut(self.touched.iter().collect(), |_| 16);
        let parts = parts.into_iter().enumerate().map(|(part, files)| {
            let mut pieces = Pieces::new();
            let event = PatchSetAdopted {
                patch_set: PatchSetId(id),
                object: (part == 0).then(|| self.object(header, &mut pieces)),
                touched: files
                    .into_iter()
                    .map(|file| StoredTouchedFile {
                        path: pieces.text(file.path.as_str()),
                        change_type: file.change_type,
                        lines_added: file.lines_added,
                        lines_deleted: file.lines_deleted,
                    })
                    .collect(),
            };
            (AnyEvent::Run(event.into()), pieces)
        });
        parts.collect()
    }

    fn object(&self, header: StoreHeader<'_>, pieces: &mut Pieces) -> AdoptedPatchSet {
        AdoptedPatchSet {
            header: header(pieces),
            commit: self.commit,
            format: self.format,
            artifact: self
                .artifact
                .as_ref()
                .map(|artifact| StoredArtifact::store(artifact, pieces)),
            rationale: pieces.optional_text(self.rationale.as_deref()),
            apply_status: self.apply_status,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Evidence {
    pub(super) run: Uuid,
    pub(super) patch_set: Option<PatchSetId>,
    kind: EvidenceKind,
    pub(super) tool: String,
    command: Option<String>,
    exit_code: Option<i32>,
    summary: Option<String>,
    report_artifacts: Vec<ArtifactRef>,
}

impl Evidence {
    pub(super) fn read(fields: &mut Fields<'_>) -> Read<Evidence> {
        let kind: String = fields.required(&["kind"])?;
        Ok(Evidence {
            run: fields.required(&["run_id"])?,
            patch_set: fields.optional(&["patchset_id"])?,
            kind: EvidenceKind::from_word(&kind),
            tool: fields.required(&["tool"])?,
            command: fields.optional(&["command"])?,
            exit_code: fields.optional(&["exit_code"])?,
            summary: fields.optional(&["summary"])?,
            report_artifacts: fields.list(&["report_artifacts"], artifact)?,
        })
    }

    pub(super) fn lists(&self, longest: &mut Longest) {
        longest.see(&self.report_artifacts, || "report_artifacts".to_owned());
    }

    pub(super) fn parts(&self, id: Uuid, header: StoreHeader<'_>) -> Vec<Part> {
        let mut pieces = Pieces::new();
        let event = EvidenceAdopted {
            header: header(&mut pieces),
            evidence: EvidenceRecorded {
                evidence: EvidenceId(id),
                patch_set: self.patch_set,
                kind: self.kind.clone(),
                tool: pieces.text(self.tool.as_str()),
                command: pieces.optional_text(self.command.as_deref()),
                exit_code: self.exit_code,
                summary: pieces.optional_text(self.summary.as_deref()),
                report_artifacts: StoredArtifact::store_all(&self.report_artifacts, &mut pieces),
            },
        };
        vec![(AnyEvent::Run(event.into()), pieces)]
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Decision {
    pub(super) run: Uuid,
    pub(super) decision_type: DecisionType,
    pub(super) chosen: Option<PatchSetId>,
    pub(super) result_commit: Option<GitOid>,
    checkpoint_id: Option<String>,
    rationale: Option<String>,
}

impl Decision {
    pub(super) fn read(fields: &mut Fields<'_>) -> Read<Decision> {
        let decision_type: String = fields.required(&["decision_type"])?;
        Ok(Decision {
            run: fields.required(&["run_id"])?,
            decision_type: DecisionType::from_word(&decision_type),
            chosen: fields.optional(&["chosen_patchset_id"])?,
            result_commit: fields.optional(&["result_commit_sha"])?,
            checkpoint_id: fields.optional(&["checkpoint_id"])?,
            rationale: fields.optional(&["rationale"])?,
        })
    }

    pub(super) fn parts(&self, id: Uuid, header: StoreHeader<'_>) -> Vec<Part> {
        let mut pieces = Pieces::new();
        let event = DecisionAdopted {
            header: header(&mut pieces),
            decision: DecisionMade {
                decision: DecisionId(id),
                decision_type: self.decision_type.clone(),
                chosen_patch_set: self.chosen,
                result_commit: self.result_commit,
                checkpoint_id: pieces.optional_text(self.checkpoint_id.as_deref()),
                rationale: pieces.optional_text(self.rationale.as_deref()),
            },
        };
        vec![(AnyEvent::Run(event.into()), pieces)]
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Provenance {
    pub(super) run: Uuid,
    pub(super) provider: String,
    pub(super) model: String,
    parameters: Option<Json>,
    temperature: Option<f64>,
    max_tokens: Option<u64>,
    pub(super) token_usage: Option<AdoptedTokens>,
}

impl Provenance {
    pub(super) fn read(fields: &mut Fields<'_>) -> Read<Provenance> {
        Ok(Provenance {
            run: fields.required(&["run_id"])?,
            provider: fields.required(&["provider"])?,
            model: fields.required(&["model"])?,
            parameters: fields.json(&["parameters"])?,
            temperature: fields.float(&["temperature"])?,
            max_tokens: fields.optional(&["max_tokens"])?,
            token_usage: fields.object(&["token_usage"], |tokens| {
                Ok(AdoptedTokens {
                    input_tokens: tokens.required(&["input_tokens"])?,
                    output_tokens: tokens.required(&["output_tokens"])?,
                    total_tokens: tokens.required(&["total_tokens"])?,
                    cost_usd: tokens.optional(&["cost_usd"])?,
                })
            })?,
        })
    }

    pub(super) fn parts(&self, id: Uuid, header: StoreHeader<'_>) -> Vec<Part> {
        let mut pieces = Pieces::new();
        let event = ProvenanceAdopted {
            header: header(&mut pieces),
            provenance: ProvenanceId(id),
            provider: pieces.text(self.provider.as_str()),
            model: pieces.text(self.model.as_str()),
            parameters: pieces.optional_json(self.parameters.as_ref()),
            temperature: self.temperature,
            max_tokens: self.max_tokens,
            token_usage: self.token_usage,
        };
        vec![(AnyEvent::Run(event.into()), pieces)]
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Footprint {
    paths_read: Vec<String>,
    paths_written: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ToolInvocation {
    pub(super) run: Uuid,
    pub(super) tool_name: String,
    io_footprint: Option<Footprint>,
    args: Option<Json>,
    status: ToolStatus,
    result_summary: Option<String>,
    artifacts: Vec<ArtifactRef>,
}

impl ToolInvocation {
    pub(super) fn read(fields: &mut Fields<'_>) -> Read<ToolInvocation> {
        Ok(ToolInvocation {
            run: fields.required(&["run_id"])?,
            tool_name: fields.required(&["tool_name"])?,
            io_footprint: fields.object(&["io_footprint"], |io| {
                Ok(Footprint {
                    paths_read: io.or_default(&["paths_read"])?,
                    paths_written: io.or_default(&["paths_written"])?,
                })
            })?,
            args: fields.json(&["args"])?.filter(|args| args.text() != "null"),
            status: fields.required(&["status"])?,
            result_summary: fields.optional(&["result_summary"])?,
            artifacts: fields.list(&["artifacts"], artifact)?,
        })
    }

    pub(super) fn lists(&self, longest: &mut Longest) {
        longest.see(&self.artifacts, || "artifacts".to_owned());
        if let Some(io) = &self.io_footprint {
            let field = |name: &str| format!("io_footprint.{name}");
            longest.see(&io.paths_read, || field("paths_read"));
            longest.see(&io.paths_written, || field("paths_written"));
        }
    }

    pub(super) fn parts(&self, id: Uuid, header: StoreHeader<'_>) -> Vec<Part> {
        let mut pieces = Pieces::new();
        let header = header(&mut pieces);
        let invocation = ToolInvoked {
            tool_invocation: ToolInvocationId(id),
            tool_name: pieces.text(self.tool_name.as_str()),
            io_footprint: self.io_footprint.as_ref().map(|io| StoredFootprint {
                paths_read: pieces.texts(&io.paths_read),
                paths_written: pieces.texts(&io.paths_written),
            }),
            args: pieces.optional_json(self.args.as_ref()),
            status: self.status,
            duration_ms: None,
            result_summary: pieces.optional_text(self.result_summary.as_deref()),
            artifacts: StoredArtifact::store_all(&self.artifacts, &mut pieces),
        };
        let event = ToolInvocationAdopted { header, invocation };
        vec![(AnyEvent::Run(event.into()), pieces)]
    }
}
