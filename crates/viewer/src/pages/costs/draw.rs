//! Draws costs: what they are by, the days as bars, and a table with a bar a row.

use annals::projections::CostAxis;
use maud::{Markup, html};

use super::chart::{DayCosts, chart};
use super::model::{CostLine, CostNumbers, CostOf, Costs, amount};
use crate::answer::Asked;
use crate::figures::grouped;
use crate::foreign;
use crate::html::{more, nothing, number, object, place};

/// The width of the longest bar.
const BAR: f64 = 140.0;
/// Levels of sub-agents that are drawn apart.
const DEEPEST: usize = 12;

pub(super) fn draw(costs: &Costs, days: &DayCosts, asked: &Asked) -> Markup {
    html! {
        section {
            div.head { h1 { "Costs" } span.count { "by " (costs.by.join(", ")) } }
            (axes(costs, asked))
            (times(asked))
            @if let Some(of) = costs.of { p.second { "Only what belongs to " (object(of, asked.moment)) ". "
                a href=(asked.with(&[("of", ""), ("from", "")])) { "All" } } }
            @for (name, value) in [("project", &costs.project), ("agent", &costs.agent)] {
                @if let Some(value) = value { p.second { "Only the " (name) " " (foreign::text(&foreign::cut(value, 100))) ". "
                    a href=(asked.with(&[(name, ""), ("from", "")])) { "All " (name) "s" } } }
            }
        }
        @if costs.rows_total == 0 { section { (nothing("Nothing was used, as far as it was recorded.")) } }
        @else {
            section { (facts(costs)) }
            @if days.is_worth_drawing() { section { h2 { "Cost by " (days.unit()) } (chart(days, &asked.params.others(&["by", "since", "until", "from", "version"]))) } }
            section {
                (table(costs, asked))
                @if let Some(next) = costs.next { (more(&asked.with(&[("from", &next.to_string())]), "Further on")) }
            }
            section { (remarks(costs)) }
        }
    }
}

/// What the rows can be by.
fn axes(costs: &Costs, asked: &Asked) -> Markup {
    let chosen = costs.by.join(",");
    html! {
        div.filters role="group" aria-label="By" {
            @for axis in CostAxis::ALL {
                a href=(asked.with(&[("by", axis.as_str()), ("from", "")]))
                    aria-current=[(chosen == axis.as_str()).then_some("true")] { (axis.as_str()) }
            }
        }
    }
}

/// The times that are asked for most.
fn times(asked: &Asked) -> Markup {
    let chosen = asked.params.get("since");
    html! {
        div.filters role="group" aria-label="Time" {
            @for (since, words) in [("", "all time"), ("90d", "90 days"), ("30d", "30 days"), ("7d", "7 days"), ("1d", "today")] {
                a href=(asked.with(&[("since", since), ("until", ""), ("from", "")]))
                    aria-current=[(chosen.unwrap_or_default() == since).then_some("true")] { (words) }
            }
        }
    }
}

fn facts(costs: &Costs) -> Markup {
    let total = &costs.total;
    let recorded = total.recorded_usd_micros;
    html! {
        dl.facts {
            div { dt { "cost" } dd { (total.cost(&costs.currency)) } }
            @if let Some(recorded) = recorded { div { dt { "recorded" } dd { (amount(recorded, "USD")) } } }
            div { dt { "tokens" } dd { (number(total.total_tokens)) } }
            div { dt { "input" } dd { (number(total.uncached_input_tokens)) } }
            div { dt { "cache read" } dd { (number(total.cache_read_tokens)) } }
            div { dt { "cache write" } dd { (number(total.cache_write_tokens)) } }
            div { dt { "output" } dd { (number(total.output_tokens)) } }
            @if total.reasoning_tokens > 0 { div { dt { "of it thoughts" } dd { (number(total.reasoning_tokens)) } } }
            @if total.web_searches > 0 { div { dt { "web searches" } dd { (number(total.web_searches)) } } }
        }
    }
}

fn table(costs: &Costs, asked: &Asked) -> Markup {
    let is_tree = costs.by == [CostAxis::SubAgent.as_str()];
    html! {
        div.scroll { table.rows {
            thead { tr {
                @for axis in &costs.by { th { (title(axis)) } }
                th.right.wide { "Input" } th.right.wide { "Cache read" } th.right.wide { "Cache write" } th.right.wide { "Output" }
                th.right { "Cost" }
                @if is_tree { th.right { "With sub-agents" } }
                th.wide { span.unseen { "Share" } }
            } }
            tbody { @for row in &costs.rows { tr {
                @for key in &row.by { td.what { (name(key, row.depth, asked)) } }
                (sums(&row.sums, &costs.currency))
                @if is_tree { td.right.num.nowrap { @if let Some(with) = &row.with_sub_agents { (with.cost(&costs.currency)) } } }
                td.wide { (bar(row)) }
            } } }
            tfoot { tr {
                @for (index, _) in costs.by.iter().enumerate() { td { @if index == 0 { "Total" } } }
                (sums(&costs.total, &costs.currency))
                @if is_tree { td {} }
                td.wide {}
            } }
        } }
    }
}

fn sums(sums: &CostNumbers, currency: &str) -> Markup {
    html! {
        td.right.wide { (number(sums.uncached_input_tokens)) }
        td.right.wide { (number(sums.cache_read_tokens)) }
        td.right.wide { (number(sums.cache_write_tokens)) }
        td.right.wide { (number(sums.output_tokens)) }
        td.right.num.nowrap { (sums.cost(currency)) }
    }
}

fn bar(row: &CostLine) -> Markup {
    let width = match row.share {
        share if share > 0.0 => (share * BAR).max(1.0),
        _ => 0.0,
    };
    html! {
        svg.spark width=(BAR) height="9" aria-hidden="true" {
            rect.bar.shown width=(format!("{width:.1}")) height="9" rx="2" {}
        }
    }
}

/// What a row is of. It leads to the object or the session, or to what the day, the project or the agent spent it on.
fn name(key: &CostOf, depth: usize, asked: &Asked) -> Markup {
    let name = key.name();
    html! {
        @if depth > 0 { span.indent aria-hidden="true" { ("  ".repeat(depth.min(DEEPEST) - 1)) "└ " } }
        @match address(key, asked) {
            Some(address) => { a href=(address) title=[key.value.as_deref().filter(|value| *value != name).map(foreign::attribute)] { (foreign::text(&name)) } }
            None => { (foreign::text(&name)) }
        }
    }
}

/// Where a row leads to.
fn address(key: &CostOf, asked: &Asked) -> Option<String> {
    if let Some(id) = key.object {
        return Some(match key.session() {
            Some(_) => format!("/sessions/{id}"),
            None => asked.moment.link(&place(id)),
        });
    }
    let value = key.value.as_deref()?;
    let axis: CostAxis = key.axis.parse().ok()?;
    Some(match axis {
        CostAxis::Day => asked.with(&[
            ("by", "session"),
            ("since", value),
            ("until", value),
            ("from", ""),
        ]),
        CostAxis::Project => asked.with(&[("by", "day,model"), ("project", value), ("from", "")]),
        CostAxis::Agent => asked.with(&[("by", "day,model"), ("agent", value), ("from", "")]),
        _ => return None,
    })
}

fn title(axis: &str) -> &'static str {
    match axis {
        "day" => "Day",
        "model" => "Model",
        "actor" => "Actor",
        "run" => "Run",
        "intent" => "Intent",
        "session" => "Session",
        "project" => "Project",
        "agent" => "Agent",
        _ => "Task",
    }
}

/// What the table cannot say.
fn remarks(costs: &Costs) -> Markup {
    html! {
        p.second {
            "Computed by prices as of " (costs.prices_as_of) ", in " (costs.currency) "; days are " (costs.time_zone) "."
            @if costs.total.recorded_usd_micros.is_some() { " Recorded is what the agents' programs said themselves." }
        }
        @if !costs.unpriced.is_empty() { ul.list { @for unpriced in &costs.unpriced {
            li { "Without a price, and not in the cost: " (grouped(unpriced.tokens)) " tokens"
                @if unpriced.web_searches > 0 { " and " (grouped(unpriced.web_searches)) " web searches" } " of "
                (unpriced.model.as_deref().unwrap_or("an unknown model")) }
        } } }
    }
}
