//! All views side by side.

use annals_domain::{
    Adoption, AnyEvent, DecisionId, EvidenceId, IntentId, Kind, ObservationId, PatchSetId,
    PipelineId, PlanId, ProvenanceId, RunId, SessionId, SnapshotId, TaskId, ToolInvocationId,
    pipeline, plan, run,
};
use serde::{Serialize, Serializer};
use uuid::Uuid;

use crate::views::{
    ContextPipelineView, ContextSnapshotView, DecisionView, EvidenceView, IntentView,
    ObservationView, PatchSetView, PlanView, Project, ProvenanceView, RunView, SessionView,
    TaskView, ToolInvocationView,
};
use crate::{Entry, HeaderView};

/// A view of one kind of object.
pub trait View: Sized {
    /// The kind.
    const KIND: Kind;
    /// The type of the kind's ids.
    type Id: Into<Uuid>;

    /// The view, if the object is of this kind.
    fn from_object(view: ObjectView) -> Option<Self>;
}

macro_rules! objects {
    ($($(#[$meta:meta])* $kind:ident($view:ident) by $id:ident;)+) => {
        /// The view of any object. It serialises as git-internal's JSON, and a
        /// session or an observation as our own.
        #[derive(Debug, Clone, PartialEq)]
        // A view is made once and passed on, so its size matters little.
        #[allow(clippy::large_enum_variant)]
        pub enum ObjectView { $($(#[$meta])* $kind($view),)+ }

        impl ObjectView {
            /// The object's common header.
            pub fn header(&self) -> &HeaderView {
                match self { $(ObjectView::$kind(view) => &view.header,)+ }
            }

            pub(crate) fn header_mut(&mut self) -> &mut HeaderView {
                match self { $(ObjectView::$kind(view) => &mut view.header,)+ }
            }

            /// What it is.
            pub fn kind(&self) -> Kind {
                match self { $(ObjectView::$kind(_) => Kind::$kind,)+ }
            }

            /// The object, if the entry is the one that creates it.
            pub(crate) fn create(kind: Kind, id: Uuid, entry: &Entry) -> Option<ObjectView> {
                let header = HeaderView::new(kind, id, entry);
                match kind {
                    $(Kind::$kind => $view::create(header, entry).map(ObjectView::$kind),)+
                }
            }

            /// Folds in a later entry that is about the object.
            pub(crate) fn evolve(&mut self, entry: &Entry) {
                // Going on with an adopted object's lists is not a change of it.
                let is_beside = beside(&entry.event).is_some();
                if !is_beside && entry.event.adoption() != Some(Adoption::Continued) {
                    self.header_mut().touch(entry);
                }
                match self { $(ObjectView::$kind(view) => view.evolve(entry),)+ }
            }
        }

        impl Serialize for ObjectView {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self { $(ObjectView::$kind(view) => view.serialize(serializer),)+ }
            }
        }

        $(
            impl From<$view> for ObjectView {
                fn from(view: $view) -> ObjectView {
                    ObjectView::$kind(view)
                }
            }

            impl View for $view {
                const KIND: Kind = Kind::$kind;
                type Id = $id;

                fn from_object(view: ObjectView) -> Option<$view> {
                    match view {
                        ObjectView::$kind(view) => Some(view),
                        _ => None,
                    }
                }
            }
        )+
    };
}

objects! {
    /// An intent.
    Intent(IntentView) by IntentId;
    /// A plan.
    Plan(PlanView) by PlanId;
    /// A task.
    Task(TaskView) by TaskId;
    /// A run.
    Run(RunView) by RunId;
    /// A patch set.
    PatchSet(PatchSetView) by PatchSetId;
    /// A piece of evidence.
    Evidence(EvidenceView) by EvidenceId;
    /// A decision.
    Decision(DecisionView) by DecisionId;
    /// A provenance.
    Provenance(ProvenanceView) by ProvenanceId;
    /// A tool invocation.
    ToolInvocation(ToolInvocationView) by ToolInvocationId;
    /// A context snapshot.
    ContextSnapshot(ContextSnapshotView) by SnapshotId;
    /// A context pipeline.
    ContextPipeline(ContextPipelineView) by PipelineId;
    /// A session.
    Session(SessionView) by SessionId;
    /// An observation.
    Observation(ObservationView) by ObservationId;
}

impl ObjectView {
    /// The object's id.
    pub fn id(&self) -> Uuid {
        self.header().object_id
    }

    /// The object as git-internal writes it: compact JSON, the header first. A
    /// session or an observation, which git-internal has not, is written in the same
    /// manner.
    ///
    /// # Errors
    /// serde_json's; for a view that came out of a fold there are none.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}

/// The kind of the stream's object, of an event that adds to it without changing it: nothing of
/// what git-internal has of it changes, so that its header and its seal stay as they are.
pub(crate) fn beside(event: &AnyEvent) -> Option<Kind> {
    use plan::Event::{Assigned, Restored, Revised};
    match event {
        AnyEvent::Pipeline(pipeline::Event::FramesUsed(_)) => Some(Kind::ContextPipeline),
        AnyEvent::Plan(Revised(_) | Assigned(_) | Restored(_)) => Some(Kind::Plan),
        AnyEvent::Run(run::Event::EndedAfterIntent(_)) => Some(Kind::Run),
        _ => None,
    }
}
