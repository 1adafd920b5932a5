//! Which results edits used: inferred, and marked as inferred.
//!
//! A recording does not say which of the frames before it the model went by.
//! One use can be told: the newest result about a file was used by the next
//! edit of that file. Such an edit is a step of the chain's plan, which consumed
//! the frame of that result and produced the edit's own.
//!
//! The step is a unit after the edit's, and not a part of it: an edit that an
//! earlier import recorded gets its step all the same, and a step that is
//! refused takes no edit with it.

use annals::{LoadError, Request, ViewError};
use annals_domain::pipeline::Event;
use annals_domain::plan::{AddStep, LinkStepFrames, NewStep, SetStepStatus, StepStatus};
use annals_domain::{AnyEvent, FrameId, PipelineId, PlanId};
use annals_event_log::Query;

use super::append::{Appended, Recorded};
use super::edit::Access;
use super::error::ClaudeImportError;
use super::ids::{self, ToolIds};
use super::importer::{Done, Importer};
use super::remark::Remark;
use super::tool::Touched;
use super::unit::Load;

/// So often the log is asked for the number of a step, if others come first.
const ATTEMPTS: usize = 3;

/// A tool call's batch has fewer events than this.
const EVENTS: usize = 16;

/// The newest result about a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct LastResult {
    call: ToolIds,
    /// Its frame in the chain's pipeline; none where an earlier import pushed
    /// it, which the log is asked for only if somebody uses it.
    frame: Option<FrameId>,
}

/// An edit as a step.
struct Step<'a> {
    edit: &'a Touched,
    used: FrameId,
    made: FrameId,
}

impl Importer<'_> {
    /// Takes note of what became of a call that is about a file. If it is an
    /// edit, it used the result before it.
    pub(super) async fn touched(
        &mut self,
        session: &str,
        chain: &str,
        touched: &Touched,
        recorded: Recorded,
    ) -> Done {
        let frame = match recorded {
            Recorded::Now(Some(frame)) => Some(frame),
            Recorded::Before => None,
            Recorded::Now(None) | Recorded::Not => return Ok(()),
        };
        let call = touched.ids;
        let result = LastResult { call, frame };
        let file = ids::file_of(session, chain, &touched.file);
        let before = self.results.get(&file).copied();
        if touched.worked {
            self.results.put(file, result);
        }
        match before {
            Some(used) if touched.access == Access::Write => {
                self.infer_use(session, chain, touched, used, result).await
            }
            _ => Ok(()),
        }
    }

    async fn infer_use(
        &mut self,
        session: &str,
        chain: &str,
        edit: &Touched,
        used: LastResult,
        made: LastResult,
    ) -> Done {
        if self.is_known(edit.ids.uses()).await? {
            return Ok(());
        }
        let pipeline = self.session(session).chain(chain).ids.pipeline;
        // A copy of another session's lines has its frames in that session's
        // pipeline, from which this chain's steps cannot take them.
        let Some(used) = self.frame_of(used, pipeline).await? else {
            return Ok(());
        };
        let Some(made) = self.frame_of(made, pipeline).await? else {
            return Ok(());
        };
        self.add_step(session, chain, Step { edit, used, made })
            .await
    }

    /// The frame of a result, if it is in this pipeline.
    async fn frame_of(
        &self,
        result: LastResult,
        pipeline: PipelineId,
    ) -> Result<Option<FrameId>, ClaudeImportError> {
        if result.frame.is_some() {
            return Ok(result.frame);
        }
        let failed = |error| ClaudeImportError::View(Box::new(error));
        let first = match self.annals.row(result.call.invocation).await {
            Ok(row) => row.first_position,
            Err(ViewError::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let page = self.annals.log().read(Query::all(first).limit(EVENTS));
        for record in page.await?.records {
            if record.batch_id() != result.call.batch {
                break;
            }
            let decoded = annals_wire::decode(&record);
            let decoded = decoded.map_err(|error| failed(LoadError::from(error).into()))?;
            if let AnyEvent::Pipeline(Event::FramePushed(pushed)) = decoded.event {
                let is_ours = decoded.stream.id == pipeline.0;
                return Ok(is_ours.then_some(pushed.frame_id));
            }
        }
        Ok(None)
    }

    /// Adds the step. Others may add steps to the plan at the same time: then
    /// the number does not fit, and it is asked for anew.
    async fn add_step(&mut self, session: &str, chain: &str, step: Step<'_>) -> Done {
        let (key, line) = (step.edit.ids.uses(), step.edit.line);
        let plan = self.session(session).chain(chain).ids.plan;
        for _ in 0..ATTEMPTS {
            let known = self.session(session).chain(chain).steps;
            let index = match known {
                Some(index) => index,
                None => self.steps_of(plan).await?,
            };
            let appended = self.append(key, step.requests(plan, index), line).await?;
            let own = self.session(session).chain(chain);
            match appended {
                Appended::Now(outcome) => {
                    own.steps = Some(index.saturating_add(1));
                    let mut load = Load::default();
                    load.fields.inferred(
                        "plan.steps and their frames (a tool result whose file is edited later)",
                    );
                    self.tally(&outcome, load, line);
                    return Ok(());
                }
                Appended::Before => {
                    own.steps = None;
                    return Ok(());
                }
                Appended::Not(_) => own.steps = None,
            }
        }
        self.remarks.add(Remark::UseLost, &self.file, line);
        Ok(())
    }

    /// How many steps a plan has.
    async fn steps_of(&self, plan: PlanId) -> Result<u32, ClaudeImportError> {
        let row = self.annals.row(plan).await;
        let row = row.map_err(|error| ClaudeImportError::View(Box::new(error)))?;
        // A plan's row counts its steps by their status, and nothing else.
        let steps: u64 = row.counts.iter().map(|(_, count)| count).sum();
        Ok(u32::try_from(steps).unwrap_or(u32::MAX))
    }
}

impl Step<'_> {
    /// The commands, if it gets this number.
    fn requests(&self, plan: PlanId, index: u32) -> Vec<Request> {
        let status = |status| SetStepStatus {
            plan,
            step: index,
            status,
            reason: None,
        };
        let add = AddStep {
            index: Some(index),
            ..AddStep::new(plan, NewStep::new(self.edit.subject.as_str()))
        };
        let link = LinkStepFrames {
            plan,
            step: index,
            iframes: vec![self.used],
            oframes: vec![self.made],
            inferred: true,
        };
        let ended = match self.edit.worked {
            true => StepStatus::Completed,
            false => StepStatus::Failed,
        };
        let by = &self.edit.by;
        vec![
            by.request(add),
            by.request(link),
            by.request(status(StepStatus::Progressing)),
            by.request(status(ended)),
        ]
    }
}
