//! What the model saw: the window in force when something was recorded.

use std::collections::HashMap;
use std::ops::ControlFlow;

use annals_domain::pipeline::{self, Window};
use annals_domain::plan::{self, StepStatus};
use annals_domain::{AnyEvent, FrameId, Kind, PipelineId, PlanId, RunId, StreamKind, StreamRef};
use annals_event_log::{Position, record_at};
use annals_projections::{ContextPipelineView, ObjectView, PlanView, RunView, WindowView};
use serde::{Serialize, Serializer};
use uuid::Uuid;

use crate::stream_events::each_event;
use crate::{At, LoadError, ObjectRef, Pipelines, ViewError};

/// The window in force at an object's position, and what the object had to do
/// with it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeenWindow {
    /// The object's id.
    pub object_id: Uuid,
    /// What it is.
    #[serde(serialize_with = "kind_word")]
    pub object_type: Kind,
    /// The plan's step, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// The position at which the window is shown; `None` where another moment was
    /// requested.
    #[serde(serialize_with = "position", skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// The visible part of the window when a plan was drafted, a half-open range
    /// of indices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fwindow: Option<(u32, u32)>,
    /// The window.
    pub window: WindowView,
    /// The frames that a plan's steps consumed and produced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub step_frames: Vec<StepFrame>,
}

/// A frame that a plan's step consumed or produced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StepFrame {
    /// The step's number.
    pub step: u32,
    /// The frame.
    pub frame: FrameId,
    /// Whether the step consumed it; otherwise it produced it.
    pub consumed: bool,
    /// Whether it was not stated, but inferred from something else.
    pub inferred: bool,
    /// The position at which it was linked to the step.
    #[serde(serialize_with = "required_position")]
    pub position: Position,
    /// Where the frame was then.
    pub was: FrameWas,
}

/// Where a frame was when a step was linked to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FrameWas {
    /// In the window.
    InWindow,
    /// Evicted before.
    Evicted {
        /// The push that it had to make room for; none where the agent's program dropped it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pushed: Option<FrameId>,
        /// The position of that push, or of what says that it was dropped.
        #[serde(serialize_with = "required_position")]
        position: Position,
    },
    /// Not in the window, and when it went is not known: it was evicted before
    /// the pipeline was adopted from another system.
    Unknown,
}

pub(crate) fn kind_word<S: Serializer>(kind: &Kind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.object_type())
}

fn position<S: Serializer>(at: &Option<Position>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(|position| position.0).serialize(serializer)
}

pub(crate) fn required_position<S: Serializer>(
    at: &Position,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(at.0)
}

/// The pipeline that an object had its context from, and when.
struct Place {
    pipeline: PipelineId,
    plan: Option<PlanView>,
    position: Position,
}

impl Pipelines<'_> {
    /// The window that a model had before it when something was recorded: a run
    /// or anything in it, a plan (when it was drafted), or one of its steps (when
    /// it began, or else was added). A pipeline has its window of now. Another
    /// moment than [`At::Now`] is looked at instead of the object's own.
    ///
    /// # Errors
    /// [`ViewError::NoWindow`] where nothing says which pipeline it was.
    pub async fn window(
        self,
        object: ObjectRef,
        step: Option<u32>,
        at: At,
    ) -> Result<SeenWindow, ViewError> {
        if at != At::Now {
            self.existed(object, step, at).await?;
        }
        let place = self.place_of_window(object, step).await?;
        let own = at == At::Now && object.kind != Kind::ContextPipeline;
        let moment = if own {
            At::Position(place.position)
        } else {
            at
        };
        let view: ContextPipelineView = self.annals.get_at(place.pipeline, moment).await?;
        let mut step_frames = match &place.plan {
            Some(plan) => {
                let plan = PlanId(plan.header.object_id);
                self.linked_frames(plan, place.pipeline, at).await?
            }
            None => Vec::new(),
        };
        step_frames.retain(|frame| step.is_none_or(|step| frame.step == step));
        Ok(SeenWindow {
            object_id: object.id,
            object_type: object.kind,
            step,
            position: own.then_some(place.position),
            fwindow: place
                .plan
                .as_ref()
                .filter(|_| own && step.is_none())
                .and_then(|plan| plan.fwindow),
            window: view.seen(),
            step_frames,
        })
    }

    /// Demands that an object existed at a moment, and a plan's step.
    async fn existed(self, object: ObjectRef, step: Option<u32>, at: At) -> Result<(), ViewError> {
        let view = self.annals.view_at(object.id, at).await?;
        if let (ObjectView::Plan(plan), Some(step)) = (&view, step)
            && plan.step(step).is_none()
        {
            return Err(no_step(object, plan, step));
        }
        Ok(())
    }

    async fn place_of_window(
        self,
        object: ObjectRef,
        step: Option<u32>,
    ) -> Result<Place, ViewError> {
        let no_window = |reason: &str| ViewError::NoWindow {
            object,
            reason: reason.to_owned(),
        };
        if step.is_some() && object.kind != Kind::Plan {
            return Err(no_window("only a plan has steps"));
        }
        let run = match object.kind {
            Kind::ContextPipeline => {
                return Ok(Place {
                    pipeline: PipelineId(object.id),
                    plan: None,
                    position: self.annals.log.watermark(),
                });
            }
            Kind::Plan => return self.place_of_plan(object, step).await,
            Kind::Intent
            | Kind::Task
            | Kind::ContextSnapshot
            | Kind::Session
            | Kind::Observation => {
                return Err(no_window(
                    "no window is in force for it; ask for one of its runs, a plan or a pipeline",
                ));
            }
            Kind::Run
            | Kind::PatchSet
            | Kind::Evidence
            | Kind::Decision
            | Kind::Provenance
            | Kind::ToolInvocation => self.annals.locate(object.id).await?.1.id,
        };
        let run: RunView = match self.annals.get(RunId(run)).await {
            Err(ViewError::NotFound { .. } | ViewError::NotYet { .. }) => {
                return Err(no_window("the run that it belongs to is not in the log"));
            }
            found => found?,
        };
        let plan = run
            .plan
            .ok_or_else(|| no_window("its run has no plan, and so no pipeline"))?;
        let pipeline = match self.annals.get::<PlanView>(plan).await {
            Err(ViewError::NotFound { .. }) => {
                return Err(no_window("the plan of its run is not in the log"));
            }
            found => found?.pipeline,
        };
        Ok(Place {
            pipeline: pipeline.ok_or_else(|| no_window("the plan of its run has no pipeline"))?,
            plan: None,
            position: self.window_position(object).await?,
        })
    }

    /// Where the window of what is in a run is looked at: where it came up. A call that a hook told of first is looked
    /// at where its transcript tells of it, as the frames before it come with that.
    async fn window_position(self, object: ObjectRef) -> Result<Position, ViewError> {
        if object.kind == Kind::ToolInvocation {
            for position in self.annals.index().events_of_call(object.id).await? {
                let record = record_at(self.annals.log.as_ref(), position).await;
                let record = record.map_err(LoadError::from)?;
                if record.is_some_and(|it| it.event_type() == "run.tool_invoked") {
                    return Ok(position);
                }
            }
        }
        Ok(self.annals.index().row(object.id).await?.first_position)
    }

    async fn place_of_plan(self, object: ObjectRef, step: Option<u32>) -> Result<Place, ViewError> {
        let no_window = |reason: String| ViewError::NoWindow { object, reason };
        let plan: PlanView = self.annals.get(PlanId(object.id)).await?;
        let pipeline = plan
            .pipeline
            .ok_or_else(|| no_window("it has no pipeline".to_owned()))?;
        let position = self.step_position(plan_stream(object.id), step).await?;
        let position = position.ok_or_else(|| no_step(object, &plan, step.unwrap_or(0)))?;
        Ok(Place {
            pipeline,
            plan: Some(plan),
            position,
        })
    }

    /// Where a step began, or else was added; where a plan was drafted.
    async fn step_position(
        self,
        plan: StreamRef,
        step: Option<u32>,
    ) -> Result<Option<Position>, LoadError> {
        let (mut steps, mut found) = (0, None);
        each_event(self.annals.log.as_ref(), plan, 1, |record, event| {
            if let AnyEvent::Plan(event) = event {
                let begins = matches!(event, plan::Event::Drafted(_))
                    || matches!(event, plan::Event::Adopted(event) if event.object.is_some());
                if begins {
                    // What is adopted replaces what was adopted before.
                    (steps, found) = (0, None);
                }
                let is_it = match step {
                    None => begins,
                    Some(step) => concerns(event, step, &mut steps),
                };
                if is_it {
                    found = Some(record.position());
                }
            }
            ControlFlow::Continue(())
        })
        .await?;
        Ok(found)
    }

    /// The frames that the steps of a plan consumed and produced, in the order
    /// in which they were linked, each with where it was then.
    ///
    /// # Errors
    /// [`ViewError`].
    pub async fn step_frames(self, plan: PlanId, at: At) -> Result<Vec<StepFrame>, ViewError> {
        let view: PlanView = self.annals.get_at(plan, at).await?;
        match view.pipeline {
            Some(pipeline) => Ok(self.linked_frames(plan, pipeline, at).await?),
            None => Ok(Vec::new()),
        }
    }

    /// The frames of a pipeline that a plan's steps were linked to.
    async fn linked_frames(
        self,
        plan: PlanId,
        pipeline: PipelineId,
        at: At,
    ) -> Result<Vec<StepFrame>, LoadError> {
        let mut linked = Vec::new();
        let plan = plan_stream(plan.0);
        each_event(self.annals.log.as_ref(), plan, 1, |record, event| {
            if let AnyEvent::Plan(event) = event
                && at.has_happened(record)
            {
                links(event, record.position(), &mut linked);
            }
            ControlFlow::Continue(())
        })
        .await?;
        if linked.is_empty() {
            return Ok(linked);
        }
        let mut marks = Marks::new(linked);
        let pipeline = pipeline.stream();
        each_event(self.annals.log.as_ref(), pipeline, 1, |record, event| {
            if let AnyEvent::Pipeline(event) = event {
                marks.fold(record.position(), event);
            }
            marks.enough()
        })
        .await?;
        Ok(marks.finish())
    }
}

fn no_step(object: ObjectRef, plan: &PlanView, step: u32) -> ViewError {
    let count = plan.steps.len();
    let reason = format!("it has no step {step}; it has {count}, numbered from 0");
    ViewError::NoWindow { object, reason }
}

/// Whether an event adds a step or lets it begin; `steps` counts those so far.
fn concerns(event: &plan::Event, step: u32, steps: &mut u64) -> bool {
    let added = match event {
        plan::Event::StepStatusChanged(event) => {
            return event.index == step && event.status == StepStatus::Progressing;
        }
        plan::Event::Drafted(event) => event.steps.len() as u64,
        plan::Event::Adopted(event) => event.steps.len() as u64,
        plan::Event::StepAdded(_) => 1,
        _ => 0,
    };
    let first = *steps;
    *steps += added;
    (first..*steps).contains(&u64::from(step))
}

fn plan_stream(id: Uuid) -> StreamRef {
    StreamRef {
        kind: StreamKind::Plan,
        id,
    }
}

/// The frames that an event links to a plan's steps.
fn links(event: &plan::Event, position: Position, linked: &mut Vec<StepFrame>) {
    let mut add = |step: u32, frames: &[FrameId], consumed: bool, inferred: bool| {
        linked.extend(frames.iter().map(|frame| StepFrame {
            step,
            frame: *frame,
            consumed,
            inferred,
            position,
            was: FrameWas::Unknown,
        }));
    };
    match event {
        plan::Event::Drafted(event) => {
            for (index, step) in (0..).zip(&event.steps) {
                add(index, &step.iframes, true, false);
                add(index, &step.oframes, false, false);
            }
        }
        plan::Event::StepAdded(event) => {
            add(event.index, &event.step.iframes, true, false);
            add(event.index, &event.step.oframes, false, false);
        }
        plan::Event::StepFramesLinked(event) => {
            add(event.index, &event.iframes, true, event.inferred);
            add(event.index, &event.oframes, false, event.inferred);
        }
        // When a step of another system was linked to its frames is unknown.
        plan::Event::Adopted(_)
        | plan::Event::StepStatusChanged(_)
        | plan::Event::StepTaskSpawned(_)
        | plan::Event::StepOutputRecorded(_)
        | plan::Event::Revised(_)
        | plan::Event::Assigned(_)
        | plan::Event::Restored(_)
        | plan::Event::MetadataSet(_)
        | plan::Event::Redacted(_)
        | plan::Event::Sealed(_) => {}
    }
}

/// Where frames are while a pipeline's history is read.
struct Marks {
    linked: Vec<StepFrame>,
    /// How many of them are marked; they ascend by position.
    marked: usize,
    window: Option<Window<()>>,
    /// Frames of interest that went.
    evicted: HashMap<FrameId, Option<(Option<FrameId>, Position)>>,
}

impl Marks {
    fn new(linked: Vec<StepFrame>) -> Marks {
        let evicted = linked.iter().map(|frame| (frame.frame, None)).collect();
        Marks {
            linked,
            marked: 0,
            window: None,
            evicted,
        }
    }

    /// Marks what was linked before this position, then goes on to it.
    fn fold(&mut self, position: Position, event: &pipeline::Event) {
        self.mark_before(position);
        let evicted = &mut self.evicted;
        pipeline::evolve_window_with(&mut self.window, event, |pushed, facts| {
            if let Some(went) = evicted.get_mut(&facts.id) {
                *went = Some((pushed, position));
            }
        });
    }

    /// Whether everything is marked.
    fn enough(&self) -> ControlFlow<()> {
        match self.marked < self.linked.len() {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }

    fn mark_before(&mut self, position: Position) {
        let waiting = self.linked.iter_mut().skip(self.marked);
        for frame in waiting.take_while(|frame| frame.position < position) {
            let window = self.window.as_ref();
            let went = self.evicted.get(&frame.frame).copied().flatten();
            frame.was = match went {
                _ if window.is_some_and(|it| it.frame_by_id(frame.frame).is_some()) => {
                    FrameWas::InWindow
                }
                Some((pushed, position)) => FrameWas::Evicted { pushed, position },
                None => FrameWas::Unknown,
            };
            self.marked += 1;
        }
    }

    fn finish(mut self) -> Vec<StepFrame> {
        self.mark_before(Position(u64::MAX));
        self.linked
    }
}
