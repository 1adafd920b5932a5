//! The sessions beside a session in the list of sessions, newest activity first.

use annals::SessionQuery;
use maud::{Markup, html};

use crate::answer::Asked;
use crate::figures::Clock;
use crate::foreign;
use crate::problem::Problem;
use crate::session_entry::SessionEntry;

/// Sessions with the same last activity that are looked at on each side.
const SAME_TIME: usize = 8;
/// Sessions without times that are looked at: they are the last ones of the list.
const WITHOUT_TIME: usize = 200;

/// The sessions beside a session in the list.
#[derive(Debug, Default)]
pub(crate) struct Neighbours {
    /// The one above it, with newer activity.
    previous: Option<Neighbour>,
    /// The one below it, with older activity.
    next: Option<Neighbour>,
    /// The tab that is shown, as the end of an address.
    tab: String,
}

/// A session beside another one.
#[derive(Debug)]
struct Neighbour {
    address: String,
    name: String,
}

/// Reads the sessions beside a session at the shown position. A sub-agent session has none: the list has it below its
/// parent. Only pages show them.
pub(super) async fn neighbours(
    asked: &Asked,
    session: &SessionEntry,
    clock: Clock,
) -> Result<Neighbours, Problem> {
    if asked.is_api || session.parent.is_some() {
        return Ok(Neighbours::default());
    }
    let conversations = asked.annals().conversations();
    let all = SessionQuery::default().with_at(asked.at());
    let all = all.with_now(clock.now());
    let not_older = match session.last_activity {
        Some(last) => all.clone().with_since(last),
        None => all.clone(),
    };
    let not_older = conversations.list(&not_older.with_limit(0)).await?.total;
    let (before, limit) = match session.last_activity {
        Some(_) => (SAME_TIME + 2, 2 * SAME_TIME + 3),
        None => (WITHOUT_TIME, WITHOUT_TIME),
    };
    let part = all.with_offset(not_older.saturating_sub(before));
    let part = conversations.list(&part.with_limit(limit)).await?.sessions;
    let Some(index) = part.iter().position(|it| it.summary.id == session.id) else {
        return Ok(Neighbours::default());
    };
    let neighbour = |index: Option<usize>| {
        let entry = SessionEntry::of(part.get(index?)?);
        Some(Neighbour {
            address: entry.address(),
            name: entry.name(),
        })
    };
    Ok(Neighbours {
        previous: neighbour(index.checked_sub(1)),
        next: neighbour(index.checked_add(1)),
        tab: tab(asked, session),
    })
}

/// The tab that is shown: a neighbour opens at the same one.
fn tab(asked: &Asked, session: &SessionEntry) -> String {
    let rest = asked.path.strip_prefix(&session.address());
    let rest = rest.unwrap_or_default();
    match rest {
        "/conversation" => String::new(),
        tab => tab.to_owned(),
    }
}

/// Draws the links to the sessions beside a session.
pub(super) fn draw(neighbours: &Neighbours, asked: &Asked) -> Markup {
    let link = |neighbour: &Neighbour| {
        let page = format!("{}{}", neighbour.address, neighbours.tab);
        asked.moment.link(&page)
    };
    if neighbours.previous.is_none() && neighbours.next.is_none() {
        return html! {};
    }
    html! {
        nav.neighbours aria-label="Sessions by last activity" {
            @if let Some(previous) = &neighbours.previous {
                a.button.small rel="prev" data-neighbour="previous" href=(link(previous))
                    title={ "Newer: " (foreign::attribute(&previous.name)) " (key: Shift K)" } { span aria-hidden="true" { "← " } "Previous" span.phonehide { " session" } }
            }
            @if let Some(next) = &neighbours.next {
                a.button.small rel="next" data-neighbour="next" href=(link(next))
                    title={ "Older: " (foreign::attribute(&next.name)) " (key: Shift J)" } { "Next" span.phonehide { " session" } span aria-hidden="true" { " →" } }
            }
        }
    }
}
