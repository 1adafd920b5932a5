//! What an import knows of all its objects before it adopts the first: ids and
//! the links that rules are about. It is small however large the objects are.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use annals_domain::Kind;
use annals_projections::Relation;
use uuid::Uuid;

use super::circle::{Circle, Circles, Links};
use super::object::{Body, Object};

/// Where an object is in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// The file, by its number in the import.
    pub(super) file: usize,
    pub(super) line: u64,
}

/// All objects of an import.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The files that it is of.
    files: Vec<PathBuf>,
    kinds: HashMap<Uuid, (Kind, Place)>,
    /// Intents' parents, plans' previous ones and tasks' parents. A chain never
    /// leads from one kind to another, unless an id is wrong.
    parents: Links,
    dependencies: Links,
    /// The run that a patch set says it is of.
    patch_sets: HashMap<Uuid, Uuid>,
    /// The patch sets that runs list.
    listed: HashSet<(Uuid, Uuid)>,
    /// The runs that tasks list.
    runs_of_tasks: HashSet<(Uuid, Uuid)>,
    provenances: HashMap<Uuid, Uuid>,
    decisions: HashMap<Uuid, Uuid>,
    pipelines: HashMap<Uuid, u64>,
    parent_circles: Circles,
    dependency_circles: Circles,
}

impl Known {
    /// What is known of the objects in these files: nothing yet.
    pub(super) fn of(files: &[PathBuf]) -> Known {
        Known {
            files: files.to_vec(),
            ..Known::default()
        }
    }

    /// Adds an object, unless its id is another kind's.
    pub(super) fn add(&mut self, object: &Object, place: Place) {
        let (id, kind) = (object.header.id, object.header.kind);
        let (there, _) = *self.kinds.entry(id).or_insert((kind, place));
        if there != kind {
            return;
        }
        match &object.body {
            Body::Intent(of) => self.link(id, of.parent),
            Body::Plan(of) => self.link(id, of.previous),
            Body::Task(of) => {
                self.link(id, of.parent);
                let dependencies = of.dependencies.iter().map(|task| task.0);
                self.dependencies.insert(id, dependencies.collect());
                self.runs_of_tasks
                    .extend(of.runs.iter().map(|run| (id, run.0)));
            }
            Body::Run(of) => self
                .listed
                .extend(of.patchsets.iter().map(|patch_set| (id, patch_set.0))),
            Body::PatchSet(of) => {
                self.patch_sets.insert(id, of.run);
            }
            Body::Decision(of) => {
                self.decisions.entry(of.run).or_insert(id);
            }
            Body::Provenance(of) => {
                self.provenances.entry(of.run).or_insert(id);
            }
            Body::Pipeline(of) => {
                self.pipelines.insert(id, of.next_frame_id.0);
            }
            Body::Evidence(_) | Body::ToolInvocation(_) | Body::Snapshot(_) => {}
        }
    }

    /// The objects that parents and dependencies name and the import does not
    /// have, by the field that names them.
    pub(super) fn ends(&self) -> Vec<(Relation, Uuid)> {
        let is_outside = |id: &&Uuid| !self.kinds.contains_key(*id);
        let mut ends = HashSet::new();
        for (id, parents) in &self.parents {
            let relation = self.kind(*id).and_then(to_parent);
            let outside = parents.iter().find(is_outside);
            ends.extend(relation.zip(outside.copied()));
        }
        for dependency in self.dependencies.values().flatten().filter(is_outside) {
            ends.insert((Relation::TaskDependencies, *dependency));
        }
        ends.into_iter().collect()
    }

    /// Adds what an object that the import does not have names in a field.
    pub(super) fn lead_on(&mut self, relation: Relation, id: Uuid, named: Vec<Uuid>) {
        if relation == Relation::TaskDependencies {
            self.dependencies.insert(id, named);
        } else {
            self.parents.insert(id, named);
        }
    }

    fn link(&mut self, id: Uuid, parent: Option<impl Into<Uuid>>) {
        match parent {
            Some(parent) => self.parents.insert(id, vec![parent.into()]),
            None => self.parents.remove(&id),
        };
    }

    /// What the import has under an id.
    pub(super) fn kind(&self, id: Uuid) -> Option<Kind> {
        self.kinds.get(&id).map(|(kind, _)| *kind)
    }

    /// What the import has first under an id, and its file and line.
    pub(super) fn holder(&self, id: Uuid) -> Option<(Kind, String)> {
        let (kind, Place { file, line }) = self.kinds.get(&id)?;
        let file = self.files.get(*file)?.display();
        Some((*kind, format!("{file}:{line}")))
    }

    /// The run that a patch set of the import says it is of.
    pub(super) fn run_of(&self, patch_set: Uuid) -> Option<Uuid> {
        self.patch_sets.get(&patch_set).copied()
    }

    /// Whether a run of the import lists a patch set.
    pub(super) fn lists_patch_set(&self, run: Uuid, patch_set: Uuid) -> bool {
        self.listed.contains(&(run, patch_set))
    }

    /// Whether a task of the import lists a run.
    pub(super) fn lists_run(&self, task: Uuid, run: Uuid) -> bool {
        self.runs_of_tasks.contains(&(task, run))
    }

    /// The first provenance of a run.
    pub(super) fn provenance_of(&self, run: Uuid) -> Option<Uuid> {
        self.provenances.get(&run).copied()
    }

    /// The first decision of a run.
    pub(super) fn decision_of(&self, run: Uuid) -> Option<Uuid> {
        self.decisions.get(&run).copied()
    }

    /// The number that the next frame of a pipeline would have got.
    pub(super) fn next_frame_of(&self, pipeline: Uuid) -> Option<u64> {
        self.pipelines.get(&pipeline).copied()
    }

    /// Finds the objects that their own parents or dependencies lead back to.
    pub(super) fn close(&mut self) {
        self.parent_circles = Circles::of(&self.parents);
        self.dependency_circles = Circles::of(&self.dependencies);
    }

    /// How an object's parents lead back to it, if they do.
    pub(super) fn parent_circle(&self, id: Uuid) -> Option<Circle> {
        self.parent_circles.through(id, &self.parents)
    }

    /// How a task's dependencies lead back to it, if they do.
    pub(super) fn dependency_circle(&self, task: Uuid) -> Option<Circle> {
        self.dependency_circles.through(task, &self.dependencies)
    }
}

/// The field by which an object of a kind names what it goes back to.
fn to_parent(kind: Kind) -> Option<Relation> {
    match kind {
        Kind::Intent => Some(Relation::IntentParent),
        Kind::Plan => Some(Relation::PlanPrevious),
        Kind::Task => Some(Relation::TaskParent),
        Kind::Run
        | Kind::PatchSet
        | Kind::Evidence
        | Kind::Decision
        | Kind::Provenance
        | Kind::ToolInvocation
        | Kind::ContextSnapshot
        | Kind::ContextPipeline
        | Kind::Session
        | Kind::Observation => None,
    }
}
