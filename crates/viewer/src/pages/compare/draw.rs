//! Draws a comparison: two columns, and what is of one of them alone on its side.

use maud::{Markup, html};

use super::model::{Beside, Call, Check, Compared, Lines, Side};
use crate::answer::Asked;
use crate::figures::{grouped, time};
use crate::html::{duration, event, more, nothing, number, place, status, status_or_none, tokens};
use crate::moment::Moment;

/// Rows that are shown before the one at which two part.
const BEFORE: usize = 3;

/// Which two are compared.
pub(super) fn form(asked: &Asked) -> Markup {
    let value = |name: &str| asked.params.get(name).unwrap_or_default().to_owned();
    html! {
        section {
            h1 { "Compare" }
            form.search method="get" action="/compare" {
                @if asked.moment.is_chosen { input type="hidden" name="at" value=(asked.moment.position); }
                label { "A " input type="text" name="a" value=(value("a")) placeholder="a run, task, intent or session" autocomplete="off" maxlength="200"; }
                label { "B " input type="text" name="b" value=(value("b")) placeholder="its id, last 8 digits or alias" autocomplete="off" maxlength="200"; }
                button type="submit" { "Compare" }
            }
        }
    }
}

pub(super) fn draw(compared: &Compared, asked: &Asked) -> Markup {
    let moment = asked.moment;
    html! {
        section { (facts(compared, moment)) }
        section { (prompts(compared)) }
        @if !compared.a.checks.is_empty() || !compared.b.checks.is_empty() {
            section { h2 { "Checks and decisions" } (sides(&checks(&compared.a.checks, moment), &checks(&compared.b.checks, moment))) }
        }
        @if !compared.files.is_empty() { section {
            div.head { h2 { "Files" } span.count { (grouped(compared.files_total as u64)) } }
            (files(compared))
        } }
        section {
            div.head {
                h2 { "Calls" }
                span.count { (parting(compared)) }
                @if let Some(row) = compared.parting.filter(|row| *row > BEFORE) {
                    a href=(part(asked, row - BEFORE)) { "To where they part" }
                }
            }
            @if compared.calls.is_empty() { (nothing("There are no calls.")) }
            @else { (calls(&compared.calls, moment)) }
            @if let Some(next) = compared.next { (more(&part(asked, next), "Further on")) }
        }
    }
}

fn part(asked: &Asked, from: usize) -> String {
    let at = match asked.moment.is_chosen {
        true => asked.moment.position.to_string(),
        false => String::new(),
    };
    asked.with(&[("from", &from.to_string()), ("at", &at)])
}

fn facts(compared: &Compared, moment: Moment) -> Markup {
    let (a, b) = (&compared.a, &compared.b);
    let head = |side: &Side| {
        html! { a href=(moment.link(&place(side.id))) { (side.name()) } " " span.second { (side.kind) } }
    };
    let row = |name: &str, of: &dyn Fn(&Side) -> Markup| {
        html! { tr { th scope="row" { (name) } td { (of(a)) } td { (of(b)) } } }
    };
    html! {
        div.scroll { table.rows.beside {
            thead { tr { th { span.unseen { "What" } } th { "A: " (head(a)) } th { "B: " (head(b)) } } }
            tbody {
                (row("status", &|side| status_or_none(side.status)))
                (row("runs", &|side| html! { (grouped(side.runs as u64)) }))
                (row("models", &|side| or_none(&side.models.join(", "))))
                (row("began", &|side| side.began_at.as_deref().map_or_else(none, time)))
                (row("took", &|side| side.duration_ms.map_or_else(none, |ms| html! { (duration(ms)) })))
                (row("prompts", &|side| html! { (grouped(side.prompts_total as u64)) }))
                (row("calls", &|side| calls_of(side)))
                (row("files", &|side| html! { (grouped(side.files as u64)) }))
                (row("tokens", &|side| side.tokens.as_ref().map_or_else(none, tokens)))
                (row("cost", &|side| side.cost.as_ref().map_or_else(none, |cost| html! { span.num { (cost) } })))
            }
        } }
    }
}

fn calls_of(side: &Side) -> Markup {
    html! { (number(side.calls as u64)) @if side.failed_calls > 0 { " (" (grouped(side.failed_calls as u64)) " failed)" } }
}

fn none() -> Markup {
    html! { span.none { "—" } }
}

fn or_none(text: &str) -> Markup {
    match text {
        "" => none(),
        text => html! { (text) },
    }
}

/// Two parts beside each other, one below the other on a phone.
fn sides(a: &Markup, b: &Markup) -> Markup {
    html! { div.grid { div { h3 { "A" } (a) } div { h3 { "B" } (b) } } }
}

fn prompts(compared: &Compared) -> Markup {
    let list = |side: &Side| {
        html! {
            @for prompt in &side.prompts { pre.text { (prompt) } }
            @let more = side.prompts_total - side.prompts.len();
            @if more > 0 { p.nothing { "and " (grouped(more as u64)) " more" } }
        }
    };
    match compared.prompts_part_at {
        None => html! { h2 { "Prompts: the same" } (list(&compared.a)) },
        Some(at) => html! {
            h2 { "Prompts: they part at prompt " (at + 1) }
            (sides(&list(&compared.a), &list(&compared.b)))
        },
    }
}

fn checks(checks: &[Check], moment: Moment) -> Markup {
    html! {
        @if checks.is_empty() { (nothing("None.")) }
        ul.list { @for check in checks { li {
            @if let Some(code) = check.exit_code { (status(if code == 0 { "ok" } else { "failed" })) " " }
            span.kind { (check.what) } " " code { (check.name) } " " span.second { "event " (event(check.position, moment)) }
        } } }
    }
}

fn files(compared: &Compared) -> Markup {
    let lines = |lines: &Option<Lines>| match lines {
        None => none(),
        Some(lines) => {
            html! { (lines.change_type) " " span.added { "+" (lines.added) } " " span.deleted { "−" (lines.deleted) } }
        }
    };
    html! {
        div.scroll { table.rows {
            thead { tr { th { "File" } th { "A" } th { "B" } } }
            tbody { @for file in &compared.files { tr {
                td.what { code { (file.path) } } td.nowrap { (lines(&file.a)) } td.nowrap { (lines(&file.b)) }
            } } }
        } }
    }
}

fn parting(compared: &Compared) -> String {
    match compared.calls_part_at {
        None => "all the same".to_owned(),
        Some(at) => format!("they part at call {}", grouped(at as u64 + 1)),
    }
}

fn calls(rows: &[Beside], moment: Moment) -> Markup {
    let side = |call: &Option<Call>, class: &str| {
        html! {
            @match call {
                None => { td.what {} }
                Some(call) => { td.what.(class) {
                    span.second.num { (call.number + 1) } " "
                    a href=(moment.link(&place(call.call))) { (call.line) }
                    @if call.status != "ok" { " " (status(call.status)) }
                } }
            }
        }
    };
    html! {
        div.scroll { table.rows.sides {
            thead { tr { th { "A" } th { "B" } } }
            tbody { @for row in rows {
                @let is_both = row.a.is_some() && row.b.is_some();
                tr { (side(&row.a, if is_both { "" } else { "only-a" })) (side(&row.b, if is_both { "" } else { "only-b" })) }
            } }
        } }
    }
}
