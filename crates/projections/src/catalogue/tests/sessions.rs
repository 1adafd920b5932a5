//! Sessions in the catalogue: their rows, lists, links and trees.

use std::sync::atomic::Ordering;

use annals_domain::session::{
    Adopted, ApprovalDenied, ApprovalExpired, Approved, CommandResult, GetDiff, Paused,
    RejectionRule, Resumed, SessionConfig, SessionStatus, StoredConfig, Throttled,
};
use annals_domain::{Dialect, Emitted, Kind, Pieces, StreamKind, TaskId};
use annals_event_log::Store;
use futures::executor::block_on;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use uuid::Uuid;

use super::{MODEL, dump, rebuilt_rows, row, task, up_to_date};
use crate::catalogue::watched::Watched;
use crate::catalogue::{Catalogue, CatalogueRow, ListQuery, Relation, Status, TreeQuery};
use crate::testing::session::{
    Telling, accepted, attached, backlog, command, completed, config, created, details, linked, of,
    queued, received, rejected, repo, required, status, summary, work_item,
};
use crate::testing::{Story, fold, id, stream, time};
use crate::{ObjectView, SessionView, Text};

const NONE: [Uuid; 0] = [];

fn begun(session: u8, parent: Option<u8>) -> Telling {
    let mut story = Telling::of(session);
    story.tell(|pieces| created(&config(session, parent), pieces));
    story
}

fn diff() -> GetDiff {
    GetDiff::new(repo())
}

fn ids(catalogue: &Catalogue, log: &dyn Store, query: &ListQuery) -> Vec<Uuid> {
    let listed = block_on(catalogue.list(log, query)).unwrap();
    listed.rows.into_iter().map(|row| row.id).collect()
}

fn count(row: &CatalogueRow, name: &str) -> u64 {
    let found = row.counts.iter().find(|(count, _)| *count == name);
    found.unwrap_or_else(|| panic!("{name}")).1
}

#[test]
fn a_row_says_whose_session_it_is_and_how_it_went() {
    let mut story = begun(1, Some(2));
    story.accept(10, diff());
    story.complete(10, CommandResult::Success);
    story.accept(11, diff());
    story.complete(11, CommandResult::Failure);
    story.tell(|pieces| received(12, diff().into(), pieces));
    story.tell(|pieces| rejected(12, None, pieces));
    story.tell(|pieces| received(13, diff().into(), pieces));
    story.tell(|pieces| Throttled {
        scope: pieces.text("Rate limit exceeded"),
        retry_after: time(99),
        correlation: of(13),
    });
    let story = Story::of(&story.events);
    let row = row(&up_to_date(&story.log), &story.log, id(1));
    assert_eq!(row.title, Some(Text::from("coder")), "its first line");
    assert_eq!(row.sort.as_deref(), Some("strict"));
    assert_eq!(row.status, Some(Status::Running));
    assert_eq!(row.links, [(Relation::SessionParent, id(2))]);
    let expected = [
        ("commands", 4),
        ("accepted", 2),
        ("rejected", 1),
        ("throttled", 1),
        ("completed", 1),
        ("failed", 1),
    ];
    assert_eq!(row.counts, expected);
    assert_eq!(row.events, 11);
}

#[test]
fn sessions_are_listed_by_status_and_by_parent() {
    let mut story = Story::new();
    for (session, parent) in [(1, None), (2, Some(1)), (3, Some(1)), (4, Some(2))] {
        let mut telling = begun(session, parent);
        if session == 3 {
            telling.tell(|_| required(50, &["Push"], false));
        }
        telling.events.iter().for_each(|event| {
            story.append(event);
        });
    }
    let catalogue = up_to_date(&story.log);
    let of = |status, parent| {
        let query = ListQuery {
            status,
            parent,
            ..ListQuery::new(Kind::Session)
        };
        ids(&catalogue, &story.log, &query)
    };
    assert_eq!(of(None, None), [id(4), id(3), id(2), id(1)]);
    assert_eq!(of(Some(Status::NeedsApproval), None), [id(3)]);
    assert_eq!(of(None, Some(id(1))), [id(3), id(2)]);
    assert_eq!(of(Some(Status::Running), Some(id(1))), [id(2)]);
    assert_eq!(of(Some(Status::Paused), None), NONE);
}

#[test]
fn sessions_in_a_status_are_counted_without_reading_their_rows() {
    let mut story = Story::new();
    for session in 1..6 {
        let mut telling = begun(session, None);
        if session > 2 {
            telling.tell(|_| required(50, &["Push"], false));
        }
        telling.events.iter().for_each(|event| {
            story.append(event);
        });
    }
    block_on(up_to_date(&story.log).flush(&story.log)).unwrap();
    let log = Watched::new(&story.log);
    let catalogue = up_to_date(&log);
    let before = log.gets.load(Ordering::Relaxed);
    for (status, expected) in [
        (Status::NeedsApproval, 3),
        (Status::Running, 2),
        (Status::Paused, 0),
    ] {
        let counted = block_on(catalogue.count(&log, Kind::Session, status)).unwrap();
        assert_eq!(counted, expected, "{status:?}");
    }
    assert_eq!(log.gets.load(Ordering::Relaxed), before);
}

#[test]
fn below_a_session_are_its_runs_its_tasks_and_the_sessions_that_it_began() {
    let mut story = Story::new();
    story.push(stream(StreamKind::Task, id(40)), |pieces| {
        (0..20).for_each(|_| {
            pieces.text("t");
        });
        annals_domain::task::Event::from(task(None, None))
    });
    story.push(stream(StreamKind::Run, id(30)), |_| {
        annals_domain::run::Event::from(annals_domain::run::Created {
            task: TaskId(id(40)),
            plan: None,
            commit: None,
            snapshot: None,
            environment: None,
            reverts: None,
        })
    });
    let mut parent = begun(1, None);
    parent.tell(|_| attached(30));
    parent.tell(|_| attached(31));
    parent.tell(|_| linked("a", 40));
    for event in parent.events.iter().chain(&begun(2, Some(1)).events) {
        story.append(event);
    }
    let catalogue = up_to_date(&story.log);
    let tree = block_on(catalogue.tree(&story.log, &TreeQuery::new(id(1))));
    let shown: Vec<_> = tree
        .unwrap()
        .unwrap()
        .nodes
        .iter()
        .map(|node| (node.depth, node.row.id, node.relation))
        .collect();
    // The run is listed where it is met first; one that is not there is left out.
    let expected = [
        (0, id(1), None),
        (1, id(30), Some(Relation::SessionRuns)),
        (1, id(40), Some(Relation::SessionTasks)),
        (1, id(2), Some(Relation::SessionParent)),
    ];
    assert_eq!(shown, expected);
    let sessions = catalogue.naming(&story.log, id(30), Relation::SessionRuns, 9);
    assert_eq!(block_on(sessions).unwrap(), [id(1)]);
}

#[test]
fn a_run_is_named_once_and_a_node_has_one_task() {
    let mut story = begun(1, None);
    for run in [30, 31, 30] {
        story.tell(|_| attached(run));
    }
    for (node, task) in [("a", 40), ("b", 41), ("a", 42), ("c", 41)] {
        story.tell(|_| linked(node, task));
    }
    let story = Story::of(&story.events);
    let (catalogue, log) = (up_to_date(&story.log), &story.log);
    let named = |relation| block_on(catalogue.named(log, id(1), relation, 9)).unwrap();
    let naming = |task, relation| block_on(catalogue.naming(log, task, relation, 9)).unwrap();
    // As it is laid over the rows, and as it is in them.
    for _ in 0..2 {
        assert_eq!(named(Relation::SessionRuns), [id(30), id(31)]);
        assert_eq!(named(Relation::SessionTasks), [id(42), id(41), id(41)]);
        assert_eq!(naming(id(40), Relation::SessionTasks), NONE);
        assert_eq!(naming(id(42), Relation::SessionTasks), [id(1)]);
        block_on(catalogue.flush(log)).unwrap();
    }
}

#[test]
fn a_session_that_was_kept_elsewhere_has_the_status_that_was_recorded() {
    let mut story = Telling::of(1);
    let adopted = |config: Option<SessionConfig>| {
        move |pieces: &mut Pieces| Adopted {
            dialect: Dialect::Contracts,
            config: config.map(|config| StoredConfig::store(&config, pieces)),
        }
    };
    let row_of = |story: &Telling| {
        let story = Story::of(&story.events);
        row(&up_to_date(&story.log), &story.log, id(1))
    };
    story.tell(adopted(None));
    let row = row_of(&story);
    assert_eq!(row.status, Some(Status::Unknown));
    assert_eq!((row.title, row.sort), (None, None));
    story.tell(|pieces| status(SessionStatus::NeedsApproval, pieces));
    assert_eq!(row_of(&story).status, Some(Status::NeedsApproval));

    // Its configuration may come later, and change.
    story.tell(adopted(Some(config(1, Some(2)))));
    let row = row_of(&story);
    assert_eq!(row.status, Some(Status::NeedsApproval));
    assert_eq!(row.title, Some(Text::from("coder")));
    assert_eq!(row.sort.as_deref(), Some("strict"));
    assert_eq!(row.links, [(Relation::SessionParent, id(2))]);
    story.tell(adopted(None));
    assert_eq!(row_of(&story).links, row.links);
    story.tell(adopted(Some(config(1, None))));
    let row = row_of(&story);
    assert_eq!((row.links.as_slice(), row.events), (&[][..], 5));
    let told = Story::of(&story.events);
    let children = up_to_date(&told.log);
    let naming = children.naming(&told.log, id(2), Relation::SessionParent, 9);
    assert_eq!(block_on(naming).unwrap(), NONE);
}

/// The rows that one command reads and writes, and their bytes.
fn cost(story: &mut Story, number: u8) -> (usize, usize, usize) {
    let mut telling = Telling::of(1);
    telling.accept(number, diff());
    telling.complete(number, CommandResult::Success);
    for event in &telling.events {
        story.append(event);
    }
    let log = Watched::new(&story.log);
    let catalogue = up_to_date(&log);
    let pending = catalogue.state().pending().unwrap();
    let rows = pending.layer.to_rows().unwrap();
    block_on(catalogue.flush(&log)).unwrap();
    let bytes = |value: &Option<bytes::Bytes>| value.as_ref().map_or(0, bytes::Bytes::len);
    let written = rows.iter().map(|(key, value)| key.len() + bytes(value));
    (
        log.gets.load(Ordering::Relaxed),
        rows.len(),
        written.sum::<usize>(),
    )
}

#[test]
fn the_ten_thousandth_command_costs_what_the_first_one_does() {
    let mut story = Story::of(&begun(1, Some(2)).events);
    block_on(up_to_date(&story.log).flush(&story.log)).unwrap();
    let first = cost(&mut story, 10);
    let mut many = Telling::of(1);
    for _ in 0..10_000 {
        many.accept(11, diff());
        many.complete(11, CommandResult::Success);
    }
    for batch in many.events.chunks(5_000) {
        story.append_all(&batch.iter().collect::<Vec<&Emitted>>());
    }
    block_on(up_to_date(&story.log).flush(&story.log)).unwrap();
    let last = cost(&mut story, 12);
    let row = row(&up_to_date(&story.log), &story.log, id(1));
    assert_eq!(count(&row, "commands"), 10_002);
    assert_eq!(first.1, 1, "its own row, and no other");
    assert_eq!((last.0, last.1), (first.0, first.1));
    // Larger numbers take a few bytes more.
    assert!(last.2 <= first.2 + 16, "{first:?} and {last:?}");
}

/// What may happen next in a session, whether or not it makes sense.
fn happens(story: &mut Telling, session: u8, what: u8, n: u8) {
    let known = [None, Some(1), Some(2), Some(3)][usize::from(n % 4)];
    let in_any = |n: u8| SessionStatus::ALL[usize::from(n) % SessionStatus::ALL.len()];
    let node = ["a", "b", "c"][usize::from(n % 3)];
    match what {
        0 => story.tell(|pieces| created(&config(session, known), pieces)),
        1 => story.tell(|pieces| {
            let config = n
                .is_multiple_of(2)
                .then(|| StoredConfig::store(&config(session, known), pieces));
            let dialect = Dialect::Contracts;
            Adopted { dialect, config }
        }),
        2 => story.tell(|_| Paused {
            reason: None,
            failures: None,
        }),
        3 => story.tell(|_| Resumed { reason: None }),
        4 => story.tell(|_| required(n, &["Push"], n.is_multiple_of(2))),
        5 => story.tell(|_| Approved {
            request: Some(command(n)),
            actions: vec!["Push".into()],
            reason: None,
        }),
        6 => story.tell(|pieces| ApprovalDenied {
            request: None,
            reason: pieces.text("no"),
        }),
        7 => story.tell(|_| ApprovalExpired {
            request: command(n),
        }),
        8 => story.tell(|pieces| status(in_any(n), pieces)),
        9 => story.tell(|pieces| received(n, diff().into(), pieces)),
        10 => story.tell(|_| queued(n)),
        11 => story.tell(|_| accepted(n)),
        12 => story.tell(|pieces| rejected(n, Some(RejectionRule::InBlacklist), pieces)),
        13 => story.tell(|pieces| completed(n, CommandResult::Failure, pieces)),
        14 => story.tell(|_| attached(30 + n)),
        15 => story.tell(|_| linked(node, 40 + n)),
        16 => {
            let (read, pieces) = backlog(&[summary(node, "one"), summary("d", "two")]);
            story.tell_with(read, pieces);
        }
        _ => story.tell(|pieces| work_item(&details(node, "three"), pieces)),
    }
}

fn compare(catalogue: &Catalogue, log: &dyn Store, row: &CatalogueRow, view: &SessionView) {
    assert_eq!(row.status, Some(view.status().into()));
    assert_eq!(row.updated_at, view.header.updated_at);
    let counts = view.counts();
    for (name, expected) in [
        ("commands", counts.commands),
        ("accepted", counts.accepted),
        ("rejected", counts.rejected),
        ("throttled", counts.throttled),
        ("completed", counts.completed),
        ("failed", counts.failed),
    ] {
        assert_eq!(count(row, name), expected, "{name}");
    }
    let config = view.config.as_ref();
    let parent = config.and_then(|config| config.parent);
    let links = parent.map(|parent| (Relation::SessionParent, parent.0));
    assert_eq!(row.links, links.into_iter().collect::<Vec<_>>());
    assert_eq!(row.title.is_some(), config.is_some());
    let named = catalogue.named(log, row.id, Relation::SessionRuns, 99);
    let mut runs = block_on(named).unwrap();
    let mut attached: Vec<Uuid> = view.runs.iter().map(|run| run.0).collect();
    runs.sort_unstable();
    attached.sort_unstable();
    assert_eq!(runs, attached);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, rng_seed: RngSeed::Fixed(20_260_102), ..ProptestConfig::default() })]

    /// After every history, the rows say what the views say, and are those that
    /// are rebuilt.
    #[test]
    fn rows_follow_their_sessions(
        events in proptest::collection::vec((1_u8..4, 0_u8..18, 0_u8..8, 0_u8..8), 1..80),
    ) {
        let mut story = Story::new();
        let catalogue = Catalogue::new();
        for (session, what, n, flush) in events {
            let mut telling = Telling::of(session);
            happens(&mut telling, session, what, n);
            telling.events.iter().for_each(|event| {
                story.append(event);
            });
            block_on(catalogue.catch_up(&story.log)).unwrap();
            if flush == 0 {
                block_on(catalogue.flush(&story.log)).unwrap();
            }
        }
        let (log, entries) = (&story.log, story.entries());
        for session in 1..4 {
            let view = fold(Kind::Session, id(session), &entries);
            let row = block_on(catalogue.row(log, id(session))).unwrap();
            prop_assert_eq!(row.is_some(), view.is_some());
            if let (Some(row), Some(ObjectView::Session(view))) = (row, view) {
                compare(&catalogue, log, &row, &view);
            }
        }
        block_on(catalogue.flush(log)).unwrap();
        prop_assert_eq!(dump(log, MODEL), rebuilt_rows(log));
    }
}
