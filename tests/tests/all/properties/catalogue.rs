//! The catalogue over random histories: rows that were written now and then are
//! the rows that a rebuild makes, at every cut; what is in memory answers as what
//! is written; and lists have exactly what the filters let through.

use std::collections::BTreeMap;

use annals::domain::{AnyEvent, Kind, session};
use annals::event_log::memory::MemoryLog;
use annals::event_log::{Blob, Content, ModelCheckpoint, ReadModels, Record, Row, Store};
use annals::projections::{
    Catalogue, CatalogueRow, Entry, Links, LinksQuery, ListQuery, Relation, Status, Text, Tree,
    TreeQuery,
};
use annals_event_log::EventLog;
use futures::executor::block_on;
use proptest::collection::vec;
use proptest::prelude::*;
use uuid::Uuid;

use super::history::{History, read_all};
use super::{check, check_one_of, folds, histories};
use crate::stores::{Logs, over_each_store};

over_each_store! {
    rows_written_now_and_then_are_the_rows_made_anew_at_every_cut,
    what_is_in_memory_answers_as_what_is_written,
    lists_have_what_the_filters_let_through,
    links_are_those_of_the_views,
}

/// What no view of git-internal shows.
const OF_DOCUMENT_004: [Relation; 4] = [
    Relation::IntentChildOf,
    Relation::IntentDependencies,
    Relation::TaskSupersedes,
    Relation::TaskPartOf,
];

/// Every row of the model that is current.
pub fn dump(log: &dyn Store) -> Vec<Row> {
    let model = block_on(Catalogue::new().model(log)).expect("a model");
    block_on(log.scan(&model, b"", None, 10_000)).expect("its rows")
}

/// A log of its own with the same records, and no rows: in memory, whatever the store of the first one is, so that rows
/// of both are compared.
fn copy(log: &dyn Store) -> MemoryLog {
    let records = read_all(log);
    let content = records.iter().flat_map(Record::content);
    let blobs = content.filter_map(|piece| match piece {
        Content::Blob { digest, .. } | Content::Attachment { digest, .. } => {
            block_on(log.blob(digest))
                .expect("an open log")
                .map(Blob::new)
        }
        Content::Inline { .. } | Content::Removed { .. } => None,
    });
    let blobs = blobs.collect();
    let copy = MemoryLog::new(log.log_id());
    if !records.is_empty() {
        block_on(copy.append_records(records, blobs)).expect("a copy");
    }
    copy
}

/// The rows as they are made from nothing.
pub fn anew(log: &dyn Store) -> Vec<Row> {
    let log = copy(log);
    block_on(Catalogue::new().rebuild(&log, &mut |_| {})).expect("new rows");
    dump(&log)
}

/// The rows as the stored ones are brought up to date.
fn brought_up(log: &dyn Store) -> Vec<Row> {
    let model = block_on(Catalogue::new().model(log)).expect("a model");
    let rows = dump(log);
    let checkpoint = block_on(log.checkpoint(&model))
        .expect("a checkpoint")
        .position;
    let log = copy(log);
    let rows = rows.into_iter().map(|(key, value)| (key, Some(value)));
    let none = ModelCheckpoint::default();
    block_on(log.commit(&model, none, rows.collect(), checkpoint)).expect("the same rows");
    let catalogue = Catalogue::new();
    block_on(catalogue.catch_up(&log)).expect("it catches up");
    block_on(catalogue.flush(&log)).expect("its rows are written");
    dump(&log)
}

fn rows_written_now_and_then_are_the_rows_made_anew_at_every_cut(logs: &dyn Logs) {
    let acts = vec(0..6_u8, super::STEPS.end() + 1);
    check_one_of(4, logs, (histories(), acts), |(commands, acts)| {
        let mut history = History::over(logs.open(), 0);
        let mut catalogue = Catalogue::new();
        for (command, act) in commands.take().iter().zip(acts) {
            let (_, _) = history.execute(command.clone());
            let log = history.log.as_ref();
            match act {
                0 => block_on(catalogue.flush(log)).expect("its rows are written"),
                1 => catalogue = Catalogue::new(),
                2..4 => {
                    block_on(catalogue.catch_up(log)).expect("it catches up");
                }
                _ => {}
            }
            assert_eq!(brought_up(log), anew(log), "at {}", log.watermark());
        }
    });
}

/// All that the catalogue says of a history.
struct Answers {
    rows: Vec<Option<CatalogueRow>>,
    lists: Vec<Vec<CatalogueRow>>,
    links: Vec<Option<Links>>,
    trees: Vec<Option<Tree>>,
    endings: Vec<Vec<(Kind, Uuid)>>,
}

impl Answers {
    fn of(catalogue: &Catalogue, log: &dyn Store, ids: &[Uuid]) -> Answers {
        let list = |kind: &Kind| list(catalogue, log, &ListQuery::new(*kind), 7);
        let link = |id: &Uuid| {
            let query = LinksQuery::new(*id).with_limit(50);
            block_on(catalogue.links(log, &query)).expect("links")
        };
        let tree = |id: &Uuid| block_on(catalogue.tree(log, &TreeQuery::new(*id))).expect("a tree");
        let row = |id: &Uuid| block_on(catalogue.row(log, *id)).expect("a row");
        let ending = |id: &Uuid| {
            let digits = id.simple().to_string();
            let digits = &digits[23..];
            block_on(catalogue.by_suffix(log, digits, 20)).expect("objects")
        };
        Answers {
            rows: ids.iter().map(row).collect(),
            lists: Kind::ALL.iter().map(list).collect(),
            links: ids.iter().map(link).collect(),
            trees: ids.iter().map(tree).collect(),
            endings: ids.iter().map(ending).collect(),
        }
    }
}

/// A whole list, so many objects at once.
fn list(
    catalogue: &Catalogue,
    log: &dyn Store,
    query: &ListQuery,
    at_once: usize,
) -> Vec<CatalogueRow> {
    let mut rows = Vec::new();
    let mut query = query.clone().with_limit(at_once);
    loop {
        let listed = block_on(catalogue.list(log, &query)).expect("a list");
        assert!(listed.rows.len() <= at_once);
        assert!(listed.next.is_none() || listed.rows.len() == at_once);
        rows.extend(listed.rows);
        match listed.next {
            None => return rows,
            next => query.after = next,
        }
    }
}

fn what_is_in_memory_answers_as_what_is_written(logs: &dyn Logs) {
    check(logs, (histories(), 0..50_usize), |(commands, written)| {
        let mut history = History::over(logs.open(), 0);
        let catalogue = Catalogue::new();
        for (number, command) in commands.take().iter().enumerate() {
            let (_, _) = history.execute(command.clone());
            let log = history.log.as_ref();
            block_on(catalogue.catch_up(log)).expect("it catches up");
            if number == written {
                block_on(catalogue.flush(log)).expect("its rows are written");
            }
        }
        let log = history.log.as_ref();
        let mut ids: Vec<Uuid> = folds::views(&history.entries()).into_keys().collect();
        ids.push(Uuid::from_u128(0xffff));
        let in_memory = Answers::of(&catalogue, log, &ids);
        block_on(catalogue.flush(log)).expect("its rows are written");
        let written = Answers::of(&Catalogue::new(), log, &ids);
        assert_eq!(written.rows, in_memory.rows);
        assert_eq!(written.lists, in_memory.lists);
        assert_eq!(written.links, in_memory.links);
        assert_eq!(written.trees, in_memory.trees);
        assert_eq!(written.endings, in_memory.endings);
    });
}

/// Which filters to use, each by a number that picks one of what there is.
type Picks = (
    Option<u8>,
    Option<u8>,
    Option<u8>,
    Option<u8>,
    Option<u8>,
    bool,
);

fn picks() -> impl Strategy<Value = Picks> {
    let pick = || prop::option::weighted(0.35, any::<u8>());
    (pick(), pick(), pick(), pick(), pick(), any::<bool>())
}

fn query(kind: Kind, rows: &[CatalogueRow], picks: Picks) -> ListQuery {
    fn nth<T: Clone>(of: &[T], pick: Option<u8>) -> Option<T> {
        let pick = usize::from(pick?);
        of.get(pick.checked_rem(of.len())?).cloned()
    }
    let (status, parent, tag, since, until, oldest_first) = picks;
    let named: Vec<Uuid> = rows
        .iter()
        .filter(|row| row.kind == kind)
        .flat_map(|row| row.links.iter())
        .filter(|(relation, _)| relation.is_parent())
        .map(|(_, target)| *target)
        .collect();
    let tags: Vec<_> = rows.iter().flat_map(|row| row.tags.clone()).collect();
    let tag = nth(&tags, tag).map(|(name, value)| {
        let any_value = value.len() % 2 == 0;
        (name, (!any_value).then_some(value))
    });
    ListQuery::new(kind)
        .with_status(nth(Status::of(kind), status))
        .with_parent(nth(&named, parent))
        .with_tag(tag)
        .with_since(nth(rows, since).map(|row| row.created_at))
        .with_until(nth(rows, until).map(|row| row.created_at))
        .with_actor_id(status.map(|_| "tester".to_owned()))
        .with_oldest_first(oldest_first)
}

fn passes(query: &ListQuery, row: &CatalogueRow) -> bool {
    let names = |parent: Uuid| {
        let mut links = row.links.iter();
        links.any(|(relation, target)| relation.is_parent() && *target == parent)
    };
    let tagged = |(name, value): &(String, Option<String>)| {
        let mut tags = row.tags.iter();
        tags.any(|tag| tag.0 == *name && value.as_ref().is_none_or(|value| tag.1 == *value))
    };
    row.kind == query.kind
        && query.status.is_none_or(|status| row.status == Some(status))
        && query.parent.is_none_or(names)
        && query.tag.as_ref().is_none_or(tagged)
        && query.since.is_none_or(|since| row.created_at >= since)
        && query.until.is_none_or(|until| row.created_at < until)
        && query
            .actor_id
            .as_ref()
            .is_none_or(|id| row.created_by.id == *id)
}

/// A list says of a run what it is for.
fn task_title(rows: &[CatalogueRow], row: &CatalogueRow) -> Option<Text> {
    let mut links = row.links.iter();
    let (_, task) = links.find(|(relation, _)| *relation == Relation::RunTask)?;
    let task = rows.iter().find(|row| row.id == *task)?;
    task.title.clone()
}

fn lists_have_what_the_filters_let_through(logs: &dyn Logs) {
    let asked = vec((any::<prop::sample::Index>(), picks(), 1..6_usize), 20);
    check(logs, (histories(), asked), |(commands, asked)| {
        let history = History::play(logs.open(), commands.take());
        let (log, catalogue) = (history.log.as_ref(), Catalogue::new());
        block_on(catalogue.catch_up(log)).expect("it catches up");
        let ids = folds::views(&history.entries()).into_keys();
        let rows = ids.map(|id| {
            block_on(catalogue.row(log, id))
                .expect("rows")
                .expect("a row")
        });
        let mut rows: Vec<CatalogueRow> = rows.collect();
        rows.sort_by_key(|row| row.first_position);
        for (kind, picks, at_once) in asked {
            let kind = Kind::ALL[kind.index(Kind::ALL.len())];
            let query = query(kind, &rows, picks);
            let mut expected: Vec<CatalogueRow> = rows
                .iter()
                .filter(|row| passes(&query, row))
                .map(|row| {
                    let mut row = row.clone();
                    row.task_title = task_title(&rows, &row);
                    row
                })
                .collect();
            if !query.oldest_first {
                expected.reverse();
            }
            assert_eq!(
                list(&catalogue, log, &query, at_once),
                expected,
                "{query:?}"
            );
        }
        let unknown = ListQuery::new(Kind::Intent).with_actor_id("nobody".to_owned());
        assert_eq!(list(&catalogue, log, &unknown, 5), []);
    });
}

/// The task of every node that a plan of a session ever had; the view shows the
/// nodes of the last plan.
fn tasks_of_nodes(entries: &[Entry]) -> Vec<(Relation, Uuid, Uuid)> {
    let mut tasks: BTreeMap<(Uuid, &str), Uuid> = BTreeMap::new();
    for entry in entries {
        if let AnyEvent::Session(session::Event::PlanNodeLinked(event)) = &entry.event {
            tasks.insert((entry.stream.id, event.node.as_str()), event.task.0);
        }
    }
    let link = |((session, _), task): ((Uuid, &str), Uuid)| (Relation::SessionTasks, session, task);
    tasks.into_iter().map(link).collect()
}

/// What a row names is what the view of the object names.
fn links_are_those_of_the_views(logs: &dyn Logs) {
    check(logs, histories(), |commands| {
        let history = History::play(logs.open(), commands.take());
        let (log, catalogue) = (history.log.as_ref(), Catalogue::new());
        block_on(catalogue.catch_up(log)).expect("it catches up");
        let views = folds::views(&history.entries());
        let mut expected: Vec<(Relation, Uuid, Uuid)> = Vec::new();
        for (id, view) in &views {
            let json: serde_json::Value =
                serde_json::from_str(&view.to_json().expect("JSON")).expect("JSON");
            // The observation says which intent it led to; the intent names it.
            if view.kind() == Kind::Observation
                && let Some(intent) = json["intent"].as_str()
            {
                let intent = intent.parse().expect("an id");
                expected.push((Relation::IntentObservation, intent, *id));
            }
            for relation in Relation::ALL {
                let (_, field) = relation.name().split_once('.').expect("a field");
                let elsewhere = [
                    Relation::PlanIntent,
                    Relation::SessionTasks,
                    Relation::IntentObservation,
                ];
                if OF_DOCUMENT_004.contains(relation) {
                    continue;
                }
                if relation.source() != view.kind() || elsewhere.contains(relation) {
                    continue;
                }
                let mut named: Vec<&serde_json::Value> = Vec::new();
                if *relation == Relation::StepTask {
                    let steps = json["steps"].as_array();
                    named.extend(steps.into_iter().flatten().map(|step| &step["task"]));
                } else if *relation == Relation::SessionParent {
                    named.push(&json["config"]["parent"]);
                } else if let Some(many) = json[field].as_array() {
                    named.extend(many);
                } else {
                    named.push(&json[field]);
                }
                let ids = named.into_iter().filter_map(|id| id.as_str()?.parse().ok());
                expected.extend(ids.map(|target: Uuid| (*relation, *id, target)));
            }
        }
        expected.extend(tasks_of_nodes(&history.entries()));
        let (mut forward, mut backward) = (Vec::new(), Vec::new());
        for id in views.keys() {
            let query = LinksQuery::new(*id).with_limit(500);
            let links = block_on(catalogue.links(log, &query))
                .expect("links")
                .expect("an object");
            forward.extend(
                links
                    .forward
                    .iter()
                    .map(|link| (link.relation, *id, link.id)),
            );
            backward.extend(
                links
                    .backward
                    .iter()
                    .map(|link| (link.relation, link.id, *id)),
            );
        }
        let with_intent = |links: &mut Vec<(Relation, Uuid, Uuid)>| {
            links.retain(|(relation, _, _)| {
                *relation != Relation::PlanIntent && !OF_DOCUMENT_004.contains(relation)
            });
            links.sort_unstable();
        };
        with_intent(&mut forward);
        with_intent(&mut backward);
        expected.sort_unstable();
        assert_eq!(forward, expected);
        assert_eq!(backward, expected);
    });
}
