//! Which results edits used: inferred, and marked as inferred.
//!
//! A recording does not say which of the frames before it the model went by.
//! One use can be inferred: the newest result about a file was used by the next
//! edit of that file. Such an edit is a step of the chain's plan, which consumed
//! the frame of that result and produced the edit's own.
//!
//! The step encloses the edit's batch, and is not a part of it. A batch before
//! the edit's records the use, because the edit's own frame may evict the used
//! one: a replay of the pipeline must meet the use while the window is the
//! one that the model had. A batch after it links the frame that the edit made,
//! and ends the step. So an edit that the log has without a step stays without
//! one; its use would be in the wrong place.

use annals::{LoadError, Request};
use annals_domain::pipeline::Event;
use annals_domain::plan::{self, AddStep, LinkStepFrames, NewStep, SetStepStatus, StepStatus};
use annals_domain::{AnyEvent, FrameId, PipelineId, PlanId, StreamKind, StreamRef};
use annals_event_log::{Position, Query, Record, Version};
use uuid::Uuid;

use super::batch::{ImportBatch, Load};
use super::edit::Access;
use super::ids::ToolIds;
use super::importer::{Done, Importer, LastResult};
use super::record::{Appended, Recorded};
use super::remark::Remark;
use super::tool::Touched;
use crate::import::error::ImportError;

/// How often the log is asked for the number of a step, if others add steps first.
const ATTEMPTS: usize = 3;

/// A tool call's batch has fewer events than this.
const EVENTS: usize = 16;

/// So many events of a plan are read at once.
const PAGE: usize = 256;

/// Why a step failed whose edit is not in the log.
const NOT_RECORDED: &str = "the edit could not be recorded";

impl Importer<'_> {
    /// Records a call that is about a file. If it is an edit, it used the
    /// newest result about the file, which a step around it says.
    pub(super) async fn touch(
        &mut self,
        session: &str,
        chain: &str,
        batch: ImportBatch,
        touched: &Touched,
    ) -> Done {
        let is_edit = touched.access == Access::Write;
        let file = self.ids.file(session, chain, &touched.file);
        let before = self.results.get(&file).copied();
        let begun = match before.filter(|_| is_edit) {
            Some(used) => {
                self.begin_step(session, chain, &batch, touched, used)
                    .await?
            }
            None => None,
        };
        let recorded = self.recorded(session, chain, batch).await?;
        if is_edit {
            self.end_step(session, chain, touched, begun, recorded)
                .await?;
        }
        let frame = match recorded {
            Recorded::Now(Some(frame)) => Some(frame),
            Recorded::Before => None,
            Recorded::Now(None) | Recorded::Not => return Ok(()),
        };
        if touched.worked {
            let call = touched.ids;
            self.results.put(file, LastResult { call, frame });
        }
        Ok(())
    }

    /// Adds the step of an edit that is about to be recorded. Its number, if it
    /// was added now.
    async fn begin_step(
        &mut self,
        session: &str,
        chain: &str,
        batch: &ImportBatch,
        edit: &Touched,
        used: LastResult,
    ) -> Result<Option<u32>, ImportError> {
        if self.is_known(batch.key).await? || self.is_known(edit.ids.uses()).await? {
            return Ok(None);
        }
        let pipeline = self.session(session).chain(chain).ids.pipeline;
        // A copy of another session's lines has its frames in that session's
        // pipeline, from which this chain's steps cannot take them.
        let Some(used) = self.frame_of(used, pipeline).await? else {
            return Ok(None);
        };
        self.open_for(session, chain, batch).await?;
        self.release(session, chain).await?;
        self.add_step(session, chain, edit, used).await
    }

    /// Ends the step of an edit, if it has one that has not ended: one that was
    /// begun now, or by an import that was interrupted.
    async fn end_step(
        &mut self,
        session: &str,
        chain: &str,
        edit: &Touched,
        begun: Option<u32>,
        recorded: Recorded,
    ) -> Done {
        let (key, ids) = (edit.ids.made(), self.session(session).chain(chain).ids);
        let step = match begun {
            Some(step) => Some(step),
            None if !self.is_known(edit.ids.uses()).await? || self.is_known(key).await? => None,
            None => self.step_of(ids.plan, edit.ids).await?,
        };
        let Some(step) = step else {
            return Ok(());
        };
        let call = edit.ids;
        let made = match recorded {
            Recorded::Now(frame) => frame,
            Recorded::Before => {
                let result = LastResult { call, frame: None };
                self.frame_of(result, ids.pipeline).await?
            }
            Recorded::Not => None,
        };
        let requests = ending(edit, ids.plan, step, made, recorded);
        match self.append(key, requests, edit.line).await? {
            Appended::Now(outcome) => self.tally(&outcome, Load::default(), edit.line),
            Appended::Before => {}
            Appended::Not(_) => self.remarks.add(Remark::UseLost, &self.file, edit.line),
        }
        Ok(())
    }

    /// The frame of a result, if it is in this pipeline.
    async fn frame_of(
        &mut self,
        result: LastResult,
        pipeline: PipelineId,
    ) -> Result<Option<FrameId>, ImportError> {
        if result.frame.is_some() {
            return Ok(result.frame);
        }
        // Its first event may be an earlier one: a request.
        let Some(logged) = self.known(result.call.batch).await? else {
            return Ok(None);
        };
        self.frame_in(logged.first, result.call.batch, pipeline)
            .await
    }

    /// The frame that a batch of the log pushed, which begins at `first`, if it is in this pipeline.
    pub(super) async fn frame_in(
        &self,
        first: Position,
        batch: Uuid,
        pipeline: PipelineId,
    ) -> Result<Option<FrameId>, ImportError> {
        let failed = |error| ImportError::View(Box::new(error));
        let page = self.annals.log().read(Query::all(first).limit(EVENTS));
        for record in page.await?.records {
            if record.batch_id() != batch {
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

    /// Adds a step that used this frame. Others may add steps to the plan at
    /// the same time: then the number does not fit, and it is asked for again.
    async fn add_step(
        &mut self,
        session: &str,
        chain: &str,
        edit: &Touched,
        used: FrameId,
    ) -> Result<Option<u32>, ImportError> {
        let (key, line) = (edit.ids.uses(), edit.line);
        let plan = self.session(session).chain(chain).ids.plan;
        for _ in 0..ATTEMPTS {
            let known = self.session(session).chain(chain).steps;
            let step = match known {
                Some(step) => step,
                None => self.steps_of(plan).await?,
            };
            let requests = beginning(edit, plan, step, used);
            let appended = self.append(key, requests, line).await?;
            let own = self.session(session).chain(chain);
            own.steps = None;
            match appended {
                Appended::Now(outcome) => {
                    own.steps = Some(step.saturating_add(1));
                    let mut load = Load::default();
                    load.fields.inferred(
                        "plan.steps and their frames (a tool result whose file is edited later)",
                    );
                    self.tally(&outcome, load, line);
                    return Ok(Some(step));
                }
                Appended::Before => return Ok(None),
                Appended::Not(_) => {}
            }
        }
        self.remarks.add(Remark::UseLost, &self.file, line);
        Ok(None)
    }

    /// How many steps a plan has.
    async fn steps_of(&mut self, plan: PlanId) -> Result<u32, ImportError> {
        self.settle_for(plan).await?;
        let row = self.annals.index().row(plan).await;
        let row = row.map_err(|error| ImportError::View(Box::new(error)))?;
        // A plan's row counts its steps by their status, and nothing else.
        let steps: u64 = row.counts.iter().map(|(_, count)| count).sum();
        Ok(u32::try_from(steps).unwrap_or(u32::MAX))
    }

    /// The number of the step that an earlier import began for an edit. It is
    /// looked for only after an import that was interrupted between two batches,
    /// so that the plan's whole stream may be read for it.
    async fn step_of(&mut self, plan: PlanId, edit: ToolIds) -> Result<Option<u32>, ImportError> {
        let stream = annals_wire::stream_name(StreamRef {
            kind: StreamKind::Plan,
            id: plan.0,
        });
        self.settle_for(plan).await?;
        let mut next = Some(1);
        while let Some(from) = next {
            let query = Query::stream(stream.clone(), Version(from)).limit(PAGE);
            let page = self.annals.log().read(query).await?;
            let is_own = |record: &&Record| record.batch_id() == edit.uses();
            for record in page.records.iter().filter(is_own) {
                if let Some(step) = added(record)? {
                    return Ok(Some(step));
                }
            }
            next = page.next;
        }
        Ok(None)
    }
}

/// The number of the step that a record adds.
fn added(record: &Record) -> Result<Option<u32>, ImportError> {
    let decoded = annals_wire::decode(record)
        .map_err(|error| ImportError::View(Box::new(LoadError::from(error).into())))?;
    Ok(match decoded.event {
        AnyEvent::Plan(plan::Event::StepAdded(added)) => Some(added.index),
        _ => None,
    })
}

/// The commands before an edit, if its step gets this number.
fn beginning(edit: &Touched, plan: PlanId, step: u32, used: FrameId) -> Vec<Request> {
    let add = AddStep::new(plan, NewStep::new(edit.subject.as_str())).with_index(step);
    let link = LinkStepFrames::new(plan, step)
        .with_iframes(vec![used])
        .with_inferred(true);
    let progressing = SetStepStatus::new(plan, step, StepStatus::Progressing);
    let by = &edit.by;
    vec![by.request(add), by.request(link), by.request(progressing)]
}

/// The commands after an edit. One that has no frame in the plan's pipeline
/// links none.
fn ending(
    edit: &Touched,
    plan: PlanId,
    step: u32,
    made: Option<FrameId>,
    recorded: Recorded,
) -> Vec<Request> {
    let is_lost = recorded == Recorded::Not;
    let link = made.map(|made| {
        LinkStepFrames::new(plan, step)
            .with_oframes(vec![made])
            .with_inferred(true)
    });
    let ended = SetStepStatus::new(
        plan,
        step,
        match edit.worked && !is_lost {
            true => StepStatus::Completed,
            false => StepStatus::Failed,
        },
    )
    .with_reason(is_lost.then(|| NOT_RECORDED.to_owned()));
    let link = link.map(|link| edit.by.request(link));
    link.into_iter().chain([edit.by.request(ended)]).collect()
}
