//! The relationships between objects: git-internal's "Object Relationship
//! Summary", in its order, one that it lacks, those of sessions and of Forge.

use annals_domain::Kind;

macro_rules! relations {
    ($($(#[$meta:meta])* $variant:ident = $code:literal, $name:literal, $source:ident -> $target:ident, $many:ident, $place:ident;)+) => {
        /// A field of one object that names another one.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Relation { $($(#[$meta])* $variant,)+ }

        impl Relation {
            /// All of them, by number.
            pub const ALL: &'static [Relation] = &[$(Relation::$variant,)+];

            /// The object's kind and the field, as `kind.field`.
            pub fn name(self) -> &'static str {
                match self { $(Relation::$variant => $name,)+ }
            }

            /// The kind of the object that has the field.
            pub fn source(self) -> Kind {
                match self { $(Relation::$variant => Kind::$source,)+ }
            }

            /// The kind of the object that the field names.
            pub fn target(self) -> Kind {
                match self { $(Relation::$variant => Kind::$target,)+ }
            }

            /// Whether one object can name several others.
            pub fn is_many(self) -> bool {
                match self { $(Relation::$variant => relations!(@$many),)+ }
            }

            /// Whether the field names what the object belongs to: its parent,
            /// its run, the task that it is an attempt at. The others point the
            /// other way, or sideways.
            pub fn is_parent(self) -> bool {
                match self { $(Relation::$variant => relations!(@$place),)+ }
            }

            /// The number in rows and keys.
            pub(super) fn code(self) -> u8 {
                match self { $(Relation::$variant => $code,)+ }
            }
        }
    };
    (@one) => { false };
    (@many) => { true };
    (@child) => { true };
    (@other) => { false };
}

relations! {
    /// The intent that an intent refines.
    IntentParent = 1, "intent.parent", Intent -> Intent, one, child;
    /// An intent's current plan.
    IntentPlan = 2, "intent.plan", Intent -> Plan, one, other;
    /// The plan that a plan revises.
    PlanPrevious = 3, "plan.previous", Plan -> Plan, one, child;
    /// The pipeline that a plan takes its context from.
    PlanPipeline = 4, "plan.pipeline", Plan -> ContextPipeline, one, child;
    /// The task that a plan's step is handed to.
    StepTask = 5, "plan_step.task", Plan -> Task, many, other;
    /// The task that a task is a part of.
    TaskParent = 6, "task.parent", Task -> Task, one, child;
    /// The intent that a task comes from.
    TaskIntent = 7, "task.intent", Task -> Intent, one, child;
    /// A task's attempts.
    TaskRuns = 8, "task.runs", Task -> Run, many, other;
    /// Tasks that must be done first.
    TaskDependencies = 9, "task.dependencies", Task -> Task, many, other;
    /// The task that a run is an attempt at.
    RunTask = 10, "run.task", Run -> Task, one, child;
    /// The plan that a run executes.
    RunPlan = 11, "run.plan", Run -> Plan, one, child;
    /// The context that a run started with.
    RunSnapshot = 12, "run.snapshot", Run -> ContextSnapshot, one, child;
    /// A run's candidate diffs.
    RunPatchSets = 13, "run.patchsets", Run -> PatchSet, many, other;
    /// The run that a patch set belongs to.
    PatchSetRun = 14, "patch_set.run", PatchSet -> Run, one, child;
    /// The run that evidence belongs to.
    EvidenceRun = 15, "evidence.run_id", Evidence -> Run, one, child;
    /// The patch set that evidence is about.
    EvidencePatchSet = 16, "evidence.patchset_id", Evidence -> PatchSet, one, child;
    /// The run that a decision ends.
    DecisionRun = 17, "decision.run_id", Decision -> Run, one, child;
    /// The patch set that a decision chose.
    DecisionPatchSet = 18, "decision.chosen_patchset_id", Decision -> PatchSet, one, child;
    /// The run that a provenance describes.
    ProvenanceRun = 19, "provenance.run_id", Provenance -> Run, one, child;
    /// The run that a tool was called in.
    ToolInvocationRun = 20, "tool_invocation.run_id", ToolInvocation -> Run, one, child;
    /// The intent that a plan is for. git-internal has no such field; its
    /// plans are reached from their intents alone.
    PlanIntent = 21, "plan.intent", Plan -> Intent, one, child;
    /// The session that a session was begun by (docs/spec/contracts.md).
    SessionParent = 22, "session.parent", Session -> Session, one, child;
    /// The runs that went on in a session.
    SessionRuns = 23, "session.runs", Session -> Run, many, other;
    /// The tasks that the nodes of a session's plans became.
    SessionTasks = 24, "session.tasks", Session -> Task, many, other;
    /// The intent that an intent is a part of (docs/spec/forge.md).
    IntentChildOf = 25, "intent.child_of", Intent -> Intent, one, child;
    /// Intents that must be done first (docs/spec/forge.md).
    IntentDependencies = 26, "intent.depends_on", Intent -> Intent, many, other;
    /// The failed task whose place a task took.
    TaskSupersedes = 27, "task.supersedes", Task -> Task, one, other;
    /// What was noticed that led to an intent.
    IntentObservation = 28, "intent.observation", Intent -> Observation, one, child;
    /// The intent that a task belongs to which says none: that of a plan whose step it is.
    TaskPartOf = 29, "task.part_of", Task -> Intent, one, child;
}

impl Relation {
    pub(super) fn from_code(code: u8) -> Option<Relation> {
        Relation::ALL
            .iter()
            .copied()
            .find(|relation| relation.code() == code)
    }

    /// The relation of an object that shares its run's stream to that run.
    pub(super) fn to_run(kind: Kind) -> Option<Relation> {
        match kind {
            Kind::PatchSet => Some(Relation::PatchSetRun),
            Kind::Evidence => Some(Relation::EvidenceRun),
            Kind::Decision => Some(Relation::DecisionRun),
            Kind::Provenance => Some(Relation::ProvenanceRun),
            Kind::ToolInvocation => Some(Relation::ToolInvocationRun),
            Kind::Intent
            | Kind::Plan
            | Kind::Task
            | Kind::Run
            | Kind::ContextSnapshot
            | Kind::ContextPipeline
            | Kind::Session
            | Kind::Observation => None,
        }
    }

    /// The fields by which objects of one kind belong to an object of another.
    pub(super) fn parents(child: Kind, parent: Kind) -> impl Iterator<Item = Relation> {
        Relation::ALL.iter().copied().filter(move |relation| {
            relation.is_parent() && relation.source() == child && relation.target() == parent
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn every_relation_has_a_number_and_a_name_of_its_own() {
        assert_eq!(Relation::ALL.len(), 29);
        for (number, relation) in (1..).zip(Relation::ALL) {
            assert_eq!(Relation::from_code(number), Some(*relation));
            let (source, _) = relation.name().split_once('.').unwrap();
            assert!(
                source.starts_with(relation.source().object_type()),
                "{relation:?}"
            );
            let same = |other: &&Relation| other.name() == relation.name();
            assert_eq!(Relation::ALL.iter().filter(same).count(), 1);
        }
        for kind in Kind::ALL {
            let to_run = Relation::to_run(*kind);
            let shares = kind.stream_kind().as_str() == "run" && *kind != Kind::Run;
            assert_eq!(to_run.is_some(), shares, "{kind}");
            assert!(to_run.is_none_or(|relation| relation.source() == *kind));
        }
    }
}
