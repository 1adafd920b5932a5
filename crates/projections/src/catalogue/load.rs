//! Reading the rows that events concern, a page of events at once.

use std::collections::HashSet;
use std::sync::Arc;

use annals_domain::{Adoption, AnyEvent, StreamKind, alias, intent, plan, run, session, task};
use annals_event_log::Store;
use bytes::Bytes;
use uuid::Uuid;

use super::CatalogueError;
use super::fold::MOST_ANCESTORS;
use super::keys;
use super::layer::{Layer, Loaded, read_object};
use super::relation::Relation;
use super::row::{LabelMap, ObjectRow};
use super::step::Step;
use super::taken::Taken;
use crate::header::{Common, common};

/// Rows that are read at once.
const AT_ONCE: usize = 4_096;

/// Where rows are: in memory first, the newest layer before those that are
/// being written, and then in the store.
pub(super) struct Source<'a> {
    pub(super) log: &'a dyn Store,
    pub(super) model: &'a str,
    /// The layer that is folded into. What it knows need not be loaded.
    pub(super) newest: &'a Layer,
    /// A layer that is being written.
    pub(super) writing: Option<&'a Arc<Layer>>,
    /// The ids that the store or the layer that is being written may have, if that is known.
    pub(super) taken: Option<&'a Taken>,
}

impl Source<'_> {
    /// Everything that folding these steps looks at and that the newest layer
    /// does not know.
    pub(super) async fn load(&self, steps: &[Step]) -> Result<Loaded, CatalogueError> {
        let mut loaded = Loaded::default();
        let ids = self.unknown(steps.iter().flat_map(concerned), &loaded);
        self.load_objects(ids, &mut loaded).await?;
        // What a row says that was loaded, or that is in the layer.
        let used = steps.iter().filter(|step| is_usage(step));
        let more = used.filter_map(|step| self.row(step.decoded.stream.id, &loaded)?.provenance);
        let more = self.unknown(more, &loaded);
        self.load_objects(more, &mut loaded).await?;
        self.load_ancestors(steps, &mut loaded).await?;
        let mut keys: Vec<Bytes> = steps
            .iter()
            .flat_map(|step| self.keys(step, &loaded))
            .collect();
        keys.sort_unstable();
        keys.dedup();
        self.load_rows(keys, &mut loaded).await?;
        Ok(loaded)
    }

    /// The intents whose status may change with that of a task or of an intent:
    /// those above it.
    async fn load_ancestors(
        &self,
        steps: &[Step],
        loaded: &mut Loaded,
    ) -> Result<(), CatalogueError> {
        let mut next: Vec<Uuid> = steps.iter().flat_map(with_parts).collect();
        let mut seen: HashSet<Uuid> = HashSet::new();
        for _ in 0..=MOST_ANCESTORS {
            next.retain(|id| seen.insert(*id));
            if next.is_empty() {
                break;
            }
            let unknown = self.unknown(next.iter().copied(), loaded);
            self.load_objects(unknown, loaded).await?;
            let above = |id: &Uuid| {
                let links = self.row(*id, loaded)?.links.iter();
                let mut up = links.filter(|link| {
                    matches!(
                        link.relation,
                        Relation::TaskIntent | Relation::TaskPartOf | Relation::IntentChildOf
                    )
                });
                up.next().map(|link| link.target)
            };
            next = next.iter().filter_map(above).collect();
        }
        Ok(())
    }

    fn row<'l>(&'l self, id: Uuid, loaded: &'l Loaded) -> Option<&'l ObjectRow> {
        let known = self.newest.objects.known(id);
        known.or_else(|| loaded.object(id)).flatten()
    }

    /// Rows of other tables that a step looks at.
    fn keys(&self, step: &Step, loaded: &Loaded) -> Vec<Bytes> {
        let own = step.decoded.stream.id;
        match &step.decoded.event {
            AnyEvent::Plan(plan::Event::StepStatusChanged(event)) => {
                vec![keys::step(own, event.index)]
            }
            AnyEvent::Plan(plan::Event::StepTaskSpawned(event)) => {
                vec![keys::step(own, event.index)]
            }
            AnyEvent::Session(session::Event::RunAttached(event)) => {
                vec![keys::run_of_session(own, event.run.0)]
            }
            AnyEvent::Session(session::Event::PlanNodeLinked(event)) => {
                vec![keys::node_of_session(own, &event.node)]
            }
            AnyEvent::Session(session::Event::BacklogQueried(event)) => {
                event.items.iter().map(work_item).collect()
            }
            AnyEvent::Session(session::Event::WorkItemQueried(event)) => {
                vec![work_item(&event.item)]
            }
            event => match (common(event), event.adoption()) {
                (Some(Common::MetadataSet(event)), _)
                    if event.tags.is_some() || event.external_ids.is_some() =>
                {
                    let row = self.row(event.object, loaded);
                    row.map(labels).into_iter().flatten().collect()
                }
                (_, Some(Adoption::Begun(_))) => {
                    let row = |(_, id): &(_, Uuid)| self.row(*id, loaded);
                    let rows = step.touched.iter().filter_map(row);
                    rows.flat_map(everything_of).collect()
                }
                (Some(_) | None, Some(Adoption::Continued) | None) => Vec::new(),
            },
        }
    }

    /// The objects of which it is not known whether there are any, each once. Most events are about
    /// what the newest layer knows or about something new, so few are left to be sorted.
    fn unknown(&self, ids: impl Iterator<Item = Uuid>, loaded: &Loaded) -> Vec<Uuid> {
        let mut unknown: Vec<Uuid> = ids
            .filter(|id| self.taken.is_none_or(|taken| taken.may_have(*id)))
            .filter(|id| self.newest.objects.known(*id).is_none() && loaded.object(*id).is_none())
            .collect();
        unknown.sort_unstable();
        unknown.dedup();
        unknown
    }

    async fn load_objects(
        &self,
        ids: Vec<Uuid>,
        loaded: &mut Loaded,
    ) -> Result<(), CatalogueError> {
        let mut stored = Vec::new();
        let mut found = Vec::new();
        for id in ids {
            match self.writing.and_then(|layer| layer.objects.known(id)) {
                Some(row) => found.push((id, row.cloned().map(Box::new))),
                None => stored.push(id),
            }
        }
        for ids in stored.chunks(AT_ONCE) {
            let keys: Vec<Bytes> = ids.iter().map(|id| keys::object(*id)).collect();
            let values = self.log.get_many(self.model, &keys).await?;
            for ((id, key), value) in ids.iter().zip(&keys).zip(values) {
                let row = value.map(|value| read_object(key, &value)).transpose()?;
                found.push((*id, row.map(Box::new)));
            }
        }
        if !found.is_empty() {
            loaded.objects.append(&mut found);
            loaded.objects.sort_unstable_by_key(|(id, _)| *id);
        }
        Ok(())
    }

    async fn load_rows(&self, keys: Vec<Bytes>, loaded: &mut Loaded) -> Result<(), CatalogueError> {
        let mut stored = Vec::new();
        for key in keys {
            if self.newest.rows.known(&key).is_some() {
                continue;
            }
            let writing = self.writing.and_then(|layer| layer.rows.known(&key));
            match writing.map(Option::<&Bytes>::cloned) {
                Some(value) => loaded.rows.push((key, value)),
                None => stored.push(key),
            }
        }
        for keys in stored.chunks(AT_ONCE) {
            let values = self.log.get_many(self.model, keys).await?;
            loaded.rows.extend(keys.iter().cloned().zip(values));
        }
        Ok(())
    }
}

/// The objects that a step concerns: those that it is about, and the run that
/// it happened in.
fn concerned(step: &Step) -> impl Iterator<Item = Uuid> + '_ {
    let stream = step.decoded.stream;
    let run = (stream.kind == StreamKind::Run).then_some(stream.id);
    let named = match &step.decoded.event {
        AnyEvent::Alias(alias::Event::Reserved(event)) => Some(event.object),
        AnyEvent::Plan(plan::Event::Assigned(_)) => Some(stream.id),
        _ => None,
    };
    let touched = step.touched.iter().map(|(_, id)| *id);
    touched.chain(run).chain(named)
}

/// The tasks and intents whose place in an intent a step may change, and those
/// that it names.
fn with_parts(step: &Step) -> Vec<Uuid> {
    let own = step.decoded.stream.id;
    match &step.decoded.event {
        AnyEvent::Task(event) => match event {
            task::Event::Created(event) => event.intent.map(Uuid::from).into_iter().collect(),
            task::Event::Started(_)
            | task::Event::DependencyAdded(_)
            | task::Event::Done(_)
            | task::Event::Failed(_)
            | task::Event::Cancelled(_)
            | task::Event::Superseded(_)
            // It may have been adopted before, in another status.
            | task::Event::Adopted(_) => vec![own],
            _ => Vec::new(),
        },
        AnyEvent::Intent(event) => match event {
            intent::Event::TakenIn(event) => event.child_of.map(Uuid::from).into_iter().collect(),
            intent::Event::TaskAdded(event) => vec![own, event.task.0],
            intent::Event::Decomposed(event) => {
                let children = event.children.iter().map(|child| child.0);
                children.chain([own]).collect()
            }
            intent::Event::Submitted(_)
            | intent::Event::Analyzed(_)
            | intent::Event::PlanSelected(_)
            | intent::Event::CommitRecorded(_)
            | intent::Event::MetadataSet(_)
            | intent::Event::Redacted(_)
            | intent::Event::Sealed(_)
            | intent::Event::Instructed(_) => Vec::new(),
            _ => vec![own],
        },
        _ => Vec::new(),
    }
}

/// The rows of an object's tags and external ids.
fn labels(row: &ObjectRow) -> impl Iterator<Item = Bytes> + use<> {
    let id = row.id;
    let counts = LabelMap::ALL.map(|map| (map, row.labels(map)));
    let of = move |(map, count)| (0..count).map(move |number| keys::label_at(map, id, number));
    counts.into_iter().flat_map(of)
}

/// The rows that an object has in addition to its own, which go when it is adopted
/// again.
fn everything_of(row: &ObjectRow) -> impl Iterator<Item = Bytes> {
    let id = row.id;
    let named = row.named().into_iter().flat_map(move |(relation, count)| {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        (0..count).map(move |number| keys::forward(id, relation, number))
    });
    labels(row).chain(named)
}

fn work_item(item: &session::ItemStatus) -> Bytes {
    keys::work_item(&keys::work_item_mark(&item.id))
}

fn is_usage(step: &Step) -> bool {
    matches!(
        step.decoded.event,
        AnyEvent::Run(run::Event::UsageRecorded(_))
    )
}
