//! Tickets in the catalogue: as they were read last, found without a scan.

use std::sync::atomic::Ordering;

use annals_domain::is_removed_name;
use annals_domain::session::{CommandResult, TransitionTicket, WorkItemSummary};
use annals_event_log::Classified;
use annals_event_log::memory::MemoryLog;
use annals_event_log::{EventLog, Position, Store};
use futures::executor::block_on;

use super::{create, up_to_date};
use crate::catalogue::watched::Watched;
use crate::catalogue::{Catalogue, CatalogueError, WorkItems, WorkItemsQuery};
use crate::testing::session::{
    Telling, backlog, config, created, details, item, summary, work_item,
};
use crate::testing::{Story, id, redacted, time};
use crate::{Removable, Text};

fn begun(session: u8) -> Telling {
    let mut story = Telling::of(session);
    story.tell(|pieces| created(&config(session, None), pieces));
    story
}

fn read(story: &mut Telling, items: &[WorkItemSummary]) {
    let (event, pieces) = backlog(items);
    story.tell_with(event, pieces);
}

fn list(catalogue: &Catalogue, log: &dyn Store, query: &WorkItemsQuery) -> WorkItems {
    block_on(catalogue.work_items(log, query)).unwrap()
}

fn ids(items: &WorkItems) -> Vec<&str> {
    items.rows.iter().map(|item| item.id.as_str()).collect()
}

#[test]
fn tickets_are_listed_from_the_newest_on_in_parts() {
    let mut story = begun(1);
    read(&mut story, &[summary("a", "A"), summary("b", "B")]);
    story.tell(|pieces| work_item(&details("c", "C"), pieces));
    // Reading one again does not make it newer.
    read(&mut story, &[summary("d", "D"), summary("a", "A again")]);
    let story = Story::of(&story.events);
    let (catalogue, log) = (up_to_date(&story.log), &story.log);
    // As it is laid over the rows, and as it is in them.
    for _ in 0..2 {
        let all = list(&catalogue, log, &WorkItemsQuery::default());
        assert_eq!(ids(&all), ["d", "c", "b", "a"]);
        assert_eq!(all.next, None);
        assert_eq!(all.rows[3].title, Text::from("A again"));
        assert_eq!(
            (all.rows[3].position, all.rows[3].as_of),
            (Position(4), time(4))
        );
        assert_eq!(all.rows[3].session.0, id(1));
        let mut query = WorkItemsQuery {
            after: None,
            limit: 3,
        };
        let part = list(&catalogue, log, &query);
        assert_eq!(
            (ids(&part), part.next.as_deref()),
            (vec!["d", "c", "b"], Some("b"))
        );
        query.after = part.next;
        let rest = list(&catalogue, log, &query);
        assert_eq!((ids(&rest), rest.next.as_deref()), (vec!["a"], None));
        // It goes on where a ticket was new, wherever it was read last.
        query.after = Some("a".into());
        assert_eq!(list(&catalogue, log, &query).rows, []);
        query.after = Some("unknown".into());
        let unknown = block_on(catalogue.work_items(log, &query)).unwrap_err();
        assert!(matches!(unknown, CatalogueError::NoWorkItem { ref id } if id == "unknown"));
        assert!(!unknown.is_retryable());
        block_on(catalogue.flush(log)).unwrap();
    }
}

#[test]
fn details_stay_when_a_backlog_is_read_later() {
    let mut story = begun(1);
    story.tell(|pieces| work_item(&details("a", "in detail"), pieces));
    let mut other = begun(2);
    let renamed = summary("a", "renamed").with_assignee(None);
    read(&mut other, &[summary("b", "B"), renamed]);
    story.events.extend(other.events);
    let story = Story::of(&story.events);
    let all = list(
        &up_to_date(&story.log),
        &story.log,
        &WorkItemsQuery::default(),
    );
    assert_eq!(ids(&all), ["b", "a"]);
    assert_eq!(all.rows[0].details, None);
    let a = &all.rows[1];
    assert_eq!(
        (&a.title, a.status.as_str()),
        (&Text::from("renamed"), "Open")
    );
    assert_eq!(a.assignee, Removable::Present(None));
    assert_eq!((a.session.0, a.position), (id(2), Position(4)));
    let told = a.details.as_ref().unwrap();
    assert_eq!(told.description, Text::from("what a is about"));
    assert_eq!(told.tags, Removable::Present(vec!["urgent".to_owned()]));
    assert_eq!((told.session.0, told.position), (id(1), Position(2)));
    assert_eq!(told.as_of, time(2));
}

/// What a command did is known once the ticket was read again.
#[test]
fn a_ticket_that_was_moved_is_shown_as_it_was_read() {
    let mut story = begun(1);
    read(&mut story, &[summary("a", "A")]);
    let moved = TransitionTicket::new(item("a"), "Done");
    story.accept(10, moved);
    story.complete(10, CommandResult::Success);
    let told = Story::of(&story.events);
    let status = |story: &Story| {
        let all = list(
            &up_to_date(&story.log),
            &story.log,
            &WorkItemsQuery::default(),
        );
        (all.rows.len(), all.rows[0].status.clone())
    };
    assert_eq!(status(&told), (1, "Open".to_owned()));
    let mut done = summary("a", "A");
    done.status = "Done".into();
    read(&mut story, &[done]);
    assert_eq!(status(&Story::of(&story.events)), (1, "Done".to_owned()));
}

#[test]
fn what_was_removed_is_gone_and_a_long_backlog_is_read_whole() {
    let mut story = begun(1);
    let many: Vec<WorkItemSummary> = (0..300).map(|n| summary(&format!("t{n}"), "T")).collect();
    read(&mut story, &many);
    story.tell(|pieces| work_item(&details("t7", "in detail"), pieces));
    let story = Story::of(&story.events);
    let query = WorkItemsQuery {
        after: None,
        limit: 1_000,
    };
    let all = list(&up_to_date(&story.log), &story.log, &query);
    assert_eq!((all.rows.len(), all.rows[0].id.as_str()), (300, "t299"));
    assert!(all.rows.iter().all(|item| item.title != Text::Removed));

    let emptied = MemoryLog::new(id(0));
    let records = story
        .records()
        .iter()
        .map(|r| redacted(r, |_| true))
        .collect();
    block_on(emptied.append_records(records, Vec::new())).unwrap();
    let bare = list(&up_to_date(&emptied), &emptied, &query);
    // Which ticket it was that was read in detail cannot be known any more.
    assert_eq!(bare.rows.len(), all.rows.len() + 1);
    let detailed = bare.rows.iter().filter(|item| item.details.is_some());
    assert_eq!(detailed.count(), 1);
    for bare in &bare.rows {
        assert!(is_removed_name(&bare.id) && is_removed_name(&bare.status));
        assert_eq!(bare.title, Text::Removed);
        assert_eq!(bare.assignee, Removable::Removed);
        let told = bare.details.iter();
        assert!(told.clone().all(|told| told.description == Text::Removed));
        assert!(told.into_iter().all(|told| told.tags == Removable::Removed));
    }
}

#[test]
fn a_list_reads_the_records_that_tell_of_its_tickets_and_no_others() {
    let mut telling = begun(1);
    let items: Vec<WorkItemSummary> = (0..20).map(|n| summary(&format!("t{n}"), "T")).collect();
    read(&mut telling, &items);
    telling.tell(|pieces| work_item(&details("t3", "in detail"), pieces));
    let mut story = Story::of(&telling.events);
    create(&mut story, 1_000..9_000);
    let log = Watched::new(&story.log);
    let catalogue = up_to_date(&log);
    block_on(catalogue.flush(&log)).unwrap();
    let before = log.reads.load(Ordering::Relaxed);
    let all = list(&catalogue, &log, &WorkItemsQuery::default());
    assert_eq!(all.rows.len(), 20);
    assert_eq!(log.reads.load(Ordering::Relaxed) - before, 2);
}
