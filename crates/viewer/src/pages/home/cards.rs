//! The cards above the list: what waits for a person, today, the last seven days, and the budgets.

use maud::{Markup, html};

use super::budget;
use super::summary::{DaySums, HomeSummary};
use crate::figures::{Clock, counted, grouped, local_time, money, since};
use crate::foreign;
use crate::html::place;
use crate::moment::Moment;
use crate::pages::inbox::Waiting;
use crate::pages::session::capitalized;
use crate::waiting_session;

/// Draws the cards.
pub(super) fn draw(summary: &HomeSummary, moment: Moment, clock: Clock) -> Markup {
    html! {
        section.cards aria-label="Summary" {
            (waiting_card(summary, moment, clock))
            (today(summary.today, &moment.link("/?date=1d")))
            (week(summary, &moment.link("/?date=7d")))
            (budget::draw(&summary.budgets))
        }
    }
}

fn waiting_card(summary: &HomeSummary, moment: Moment, clock: Clock) -> Markup {
    let total = summary.waiting_total;
    if total == 0 {
        return html! { div.box.card { h2 { "Waiting for you" } div.big { "0" } p { "No open permission, question or approval" } } };
    }
    let shown = summary.waiting.len().saturating_add(summary.inbox.len());
    let others = total.saturating_sub(shown as u64);
    let all = match moment.is_chosen {
        true => moment.link("/?waiting=1"),
        false => "/inbox".to_owned(),
    };
    html! {
        div.box.card.waits {
            div { h2 { "Waiting for you" } div.big { (grouped(total)) } }
            ul {
                @for session in &summary.waiting { (waiting_session::draw(session, moment, clock)) }
                @for entry in &summary.inbox { (inbox_entry(entry, clock)) }
                @if others > 0 { li { a href=(all) { (grouped(others)) " more" } } }
            }
        }
    }
}

/// An intent or a contracts session that waits for a person, with the first reason.
fn inbox_entry(entry: &Waiting, clock: Clock) -> Markup {
    let name = entry.row.name();
    let reason = entry.reasons.first().copied().unwrap_or("approval");
    html! {
        li {
            a href=(place(entry.row.id)) title=(foreign::attribute(&name)) dir="auto" { (capitalized(reason)) ": " (foreign::text(&foreign::one_line(&name, 120))) }
            span.dim.num { @if let Some(at) = local_time(&entry.row.created_at) { (since(clock.now(), at)) } }
        }
    }
}

fn today(sums: DaySums, address: &str) -> Markup {
    html! {
        div.box.card { h2 { "Today" }
            div.big { (money(sums.micros)) }
            p { a href=(address) { (counted(sums.sessions, "session", "sessions")) } span.desk { ", " (counted(sums.files, "file changed", "files changed")) } }
        }
    }
}

fn week(summary: &HomeSummary, address: &str) -> Markup {
    let (now, before) = (summary.week.micros, summary.week_before_micros);
    let change = (before > 0).then(|| {
        let percent = now.saturating_mul(100) / before;
        match percent {
            100 => "as much as the week before".to_owned(),
            more @ 101..=1_000 => format!("+{} % week on week", more - 100),
            1_001.. => "over 10 times the week before".to_owned(),
            less => format!("−{} % week on week", 100 - less),
        }
    });
    html! {
        div.box.card { h2 { "Last 7 days" }
            div.big { (money(now)) }
            p {
                span.desk[change.is_some()] { a href=(address) { (counted(summary.week.sessions, "session", "sessions")) } @if change.is_some() { ", " } }
                @if let Some(change) = change { (change) }
            }
        }
    }
}
