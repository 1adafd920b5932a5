//! The small parts that all pages are made of. Maud escapes every text.

use maud::{Markup, html};
use uuid::Uuid;

use crate::figures::{grouped, time};
use crate::model::{EventRow, Row, Tokens, Who, short};
use crate::moment::Moment;

/// The sign and the group of a status: a status is a shape and a word, and a colour besides.
fn sign(status: &str) -> (&'static str, &'static str) {
    match status {
        "completed" | "done" | "ok" | "applied" | "finalized" | "processed" | "allow"
        | "approved" => ("✓", "good"),
        "failed" | "error" | "denied" | "deny" | "rejected" | "blocked" => ("✕", "bad"),
        "running" | "patching" | "validating" | "active" | "executing" => ("▶", "busy"),
        "needs_approval" | "ask" | "needs_clarification" => ("!", "wait"),
        "requested" | "proposed" | "created" | "draft" | "open" => ("○", "new"),
        "paused" => ("‖", "wait"),
        "cancelled" | "reverted" => ("–", "gone"),
        _ => ("·", "new"),
    }
}

/// A status as a shape and a word.
pub(crate) fn status(word: &str) -> Markup {
    let (shape, group) = sign(word);
    html! {
        span.status.(group) {
            span.shape aria-hidden="true" { (shape) }
            (word.replace('_', " "))
        }
    }
}

/// A status that may not be known.
pub(crate) fn status_or_none(word: Option<&str>) -> Markup {
    match word {
        Some(word) => status(word),
        None => html! { span.none { "—" } },
    }
}

/// Where the page of an object is.
pub(crate) fn place(id: Uuid) -> String {
    format!("/objects/{id}")
}

/// An id that leads to its object.
pub(crate) fn object(id: Uuid, moment: Moment) -> Markup {
    html! { a.id href=(moment.link(&place(id))) title=(id) { (short(id)) } }
}

/// A position that leads to its event.
pub(crate) fn event(position: u64, moment: Moment) -> Markup {
    html! { a.num href=(moment.link(&format!("/events/{position}"))) { (position) } }
}

pub(crate) fn who(who: &Who) -> Markup {
    let title = format!("{} {}", who.kind, who.id);
    let name = who.name.as_deref().unwrap_or(&who.id);
    html! { span.who title=(title) { span.kind { (who.kind) } " " (name) } }
}

/// A large number as people read it; its title has all digits.
pub(crate) fn number(number: u64) -> Markup {
    html! { span.num title=(grouped(number)) { (roughly(number)) } }
}

fn roughly(number: u64) -> String {
    const PREFIXES: [(u64, char); 3] = [(1_000_000_000, 'G'), (1_000_000, 'M'), (1_000, 'k')];
    let fits = |(unit, _): &&(u64, char)| number >= unit - unit / 2_000;
    let Some((unit, prefix)) = PREFIXES.iter().find(fits).filter(|_| number >= 10_000) else {
        return grouped(number);
    };
    #[allow(clippy::cast_precision_loss, reason = "three digits are shown")]
    let value = number as f64 / *unit as f64;
    let digits = if value < 99.95 { 1 } else { 0 };
    format!("{value:.digits$} {prefix}")
}

/// Milliseconds as people read them.
pub(crate) fn duration(ms: u64) -> String {
    match ms {
        0..=999 => format!("{ms} ms"),
        1_000..=59_999 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        60_000..=3_599_999 => format!("{} min {:02} s", ms / 60_000, ms % 60_000 / 1_000),
        3_600_000..=86_399_999 => {
            format!("{} h {:02} min", ms / 3_600_000, ms % 3_600_000 / 60_000)
        }
        _ => format!("{} d {:02} h", ms / 86_400_000, ms % 86_400_000 / 3_600_000),
    }
}

pub(crate) fn tokens(tokens: &Tokens) -> Markup {
    let title = format!(
        "input {}, cache read {}, cache write {}, output {}",
        grouped(tokens.uncached_input),
        grouped(tokens.cache_read),
        grouped(tokens.cache_write),
        grouped(tokens.output)
    );
    html! { span.num title=(title) { (roughly(tokens.total)) " tokens" } }
}

/// What is counted by a name of several, in words: one of them is one.
fn counted(name: &str, count: u64) -> String {
    let name = name.replace('_', " ");
    let one = match name.strip_prefix("frames ") {
        Some(rest) => Some(format!("frame {rest}")),
        None if name == "dependencies" => Some("dependency".to_owned()),
        None => name.strip_suffix('s').map(str::to_owned),
    };
    one.filter(|_| count == 1).unwrap_or(name)
}

/// What there is of an object, in a few words.
fn counts(row: &Row) -> Markup {
    html! {
        @for (name, count) in &row.counts {
            span.count { (grouped(*count)) " " (counted(name, *count)) }
        }
        @if let Some(used) = &row.tokens { span.count { (tokens(used)) } }
        @if row.is_partial { span.count { "changed since" } }
    }
}

/// A table of objects.
pub(crate) fn rows(rows: &[Row], moment: Moment, with_kind: bool) -> Markup {
    html! {
        div.scroll { table.rows.stacked {
            thead { tr {
                th { "Status" }
                @if with_kind { th { "Kind" } }
                th { "What" } th.wide { "Id" } th.wide { "By" } th { "Created" } th.wide { "Has" }
            } }
            tbody { @for row in rows { tr data-position=(row.last_position) {
                td { (status_or_none(row.status))
                    @if let Some(approval) = row.approval { " " span.second { (approval) } } }
                @if with_kind { td.kind { (row.kind.replace('_', " ")) } }
                td.what { a href=(moment.link(&place(row.id))) { (row.name()) } }
                td.wide { code.id title=(row.id) { (short(row.id)) } }
                td.wide { (who(&row.created_by)) }
                td { (time(&row.created_at)) }
                td.wide.counts { (counts(row)) }
            } } }
        } }
    }
}

/// A table of events.
pub(crate) fn events(events: &[EventRow], moment: Moment, with_object: bool) -> Markup {
    html! {
        div.scroll { table.rows.events.stacked {
            thead { tr {
                th.right { "Event" } th { "When" } th.wide { "Who" }
                @if with_object { th { "Object" } }
                th { "What" }
            } }
            tbody { @for event in events { tr data-position=(event.position) {
                td.right data-label="event" { (self::event(event.position, moment)) }
                td { (time(&event.occurred_at)) }
                td.wide { (who(&event.actor)) }
                @if with_object { td.nowrap {
                    @if let Some(named) = &event.object {
                        span.kind { (named.kind.replace('_', " ")) } " " (object(named.id, moment))
                    }
                } }
                td.what { span.type { (event.event_type) } " " (event.summary) }
            } } }
        } }
    }
}

/// What is said where a list is empty.
pub(crate) fn nothing(text: &str) -> Markup {
    html! { p.nothing { (text) } }
}

/// The way to more of a list.
pub(crate) fn more(address: &str, words: &str) -> Markup {
    html! { p.more { a rel="next" href=(address) { (words) } } }
}

/// A button that copies a text; without the script it is not shown.
pub(crate) fn copy(label: &str, text: &str) -> Markup {
    html! { button.button.small.copy type="button" data-copy=(text) hidden { (label) } }
}

/// A command to be typed, with the button that copies it.
pub(crate) fn command(text: &str) -> Markup {
    html! { div.command { code { (text) } (copy("Copy", text)) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_several() {
        for (name, one, several) in [
            ("tool_invocations", "tool invocation", "tool invocations"),
            ("dependencies", "dependency", "dependencies"),
            ("frames_in_window", "frame in window", "frames in window"),
            ("evidence", "evidence", "evidence"),
        ] {
            assert_eq!(
                (counted(name, 1), counted(name, 2)),
                (one.to_owned(), several.to_owned())
            );
        }
    }

    #[test]
    fn numbers_are_for_people() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(roughly(9_999), "9,999");
        assert_eq!(roughly(14_449), "14.4 k");
        assert_eq!(duration(17), "17 ms");
        assert_eq!(duration(7_240), "7.2 s");
        assert_eq!(duration(61_000), "1 min 01 s");
        assert_eq!(duration(7_260_000), "2 h 01 min");
        assert_eq!(duration(200_000_000), "2 d 07 h");
    }

    #[test]
    fn texts_are_texts() {
        let shown = status("<script>alert(1)</script>").into_string();
        assert!(!shown.contains("<script>"), "{shown}");
        let shown = copy("Copy", "\"><script>").into_string();
        assert!(!shown.contains("<script>"), "{shown}");
    }
}
