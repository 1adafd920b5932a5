//! The table of sessions.

use maud::{Markup, html};

use super::SessionList;
use super::filter::{Filter, Sort};
use crate::answer::Asked;
use crate::figures::{Clock, counted, grouped, lines, money, or_unknown, span, tokens};
use crate::foreign;
use crate::moment::Moment;
use crate::session_entry::{SessionEntry, agent_name, dot, model_name};

/// Sub-agent sessions that a row lists.
const SUB_AGENTS: usize = 50;

/// Draws the table.
pub(super) fn draw(list: &SessionList, filter: &Filter, asked: &Asked, clock: Clock) -> Markup {
    html! {
        table.list.box {
            thead { tr {
                th.st { span.unseen { "Status" } }
                @for sort in Sort::ALL { (heading(sort, filter, asked)) }
            } }
            tbody { @for session in &list.sessions { (row(session, asked.moment, clock)) } }
        }
    }
}

/// A column's heading: a link that sorts by it.
fn heading(sort: Sort, filter: &Filter, asked: &Asked) -> Markup {
    let is_current = filter.sort == sort;
    let ascending = if is_current {
        !filter.ascending
    } else {
        sort.is_ascending()
    };
    let order = if ascending { "asc" } else { "desc" };
    let at = match asked.moment.is_chosen {
        true => asked.moment.position.to_string(),
        false => String::new(),
    };
    let address = asked.with(&[
        ("sort", sort.word()),
        ("order", order),
        ("from", ""),
        ("at", &at),
    ]);
    let state = is_current.then_some(if filter.ascending {
        "ascending"
    } else {
        "descending"
    });
    html! {
        th.(class(sort)) aria-sort=[state] {
            a href=(address) { (sort.heading()) @match (is_current, filter.ascending) { (true, true) => " ↑", (true, false) => " ↓", _ => "" } }
        }
    }
}

fn class(sort: Sort) -> &'static str {
    match sort {
        Sort::Title | Sort::Project | Sort::Agent | Sort::Activity => "",
        Sort::Active | Sort::Prompts | Sort::Tokens => "r opt",
        Sort::Files | Sort::Cost => "r",
    }
}

fn row(session: &SessionEntry, moment: Moment, clock: Clock) -> Markup {
    html! {
        tr.(session.status) data-position=(session.last_position) {
            td.st { (dot(session.status)) }
            td.title {
                a href=(moment.link(&session.address())) dir="auto" { (foreign::text(&foreign::cut(&session.name(), 110))) }
                @if let Some(waits) = session.waits_for { " " span.badge.wait { (waits) } }
                @if let (Some(reason), "failed") = (&session.end_reason, session.status) { " " span.badge.bad { (foreign::text(&foreign::one_line(reason, 40))) } }
                (sub_agents(session, moment))
            }
            td.proj title=[session.project.as_deref()] { (foreign::text(&foreign::cut(session.project_name.as_deref().unwrap_or("no project"), 28))) @if let Some(agent) = &session.agent { span.phone { " · " (foreign::text(&foreign::cut(agent_name(agent), 24))) } } }
            td.by { @match &session.agent { Some(agent) => { (foreign::text(&foreign::cut(agent_name(agent), 24))) } None => { span.dim { "unknown" } } }
                @if let Some(model) = session.model() { " " span.dim.model title=(session.models.join(", ")) { (foreign::text(&foreign::cut(model_name(model), 24))) } } }
            td.when { (or_unknown(session.last_activity, |at| clock.ago(at))) }
            td.r.num.opt { @if session.active_ms > 0 { (span(session.active_ms)) } @else { span.dim { "unknown" } } }
            td.r.num.opt { (grouped(session.prompts)) }
            td.r.num { @if session.files > 0 { span.files { (grouped(session.files)) } " " (lines(session.added, session.deleted)) } @else { span.dim { "none" } } }
            td.r.num.opt { @match &session.tokens { Some(used) => { (tokens(used.total.into())) } None => { span.dim { "unknown" } } } }
            td.r.num.cost { @match session.micros { Some(micros) => { (money(micros)) } None => { span.dim { "unknown" } } } }
        }
    }
}

/// The sessions of sub-agents, folded.
fn sub_agents(session: &SessionEntry, moment: Moment) -> Markup {
    let all = session.all_sub_agents().len() as u64;
    if all == 0 {
        return html! {};
    }
    html! {
        " " details id={ "sub-" (session.id) } {
            summary { (counted(all, "sub-agent", "sub-agents")) }
            (nested(&session.sub_agents, moment))
        }
    }
}

fn nested(sessions: &[SessionEntry], moment: Moment) -> Markup {
    html! {
        ul.subs {
            @for session in sessions.iter().take(SUB_AGENTS) { li {
                (dot(session.status))
                a href=(moment.link(&session.address())) dir="auto" { (foreign::text(&foreign::cut(&session.name(), 120))) }
                span.num { (counted(session.tool_calls, "tool call", "tool calls")) }
                @if let Some(micros) = session.micros { span.num { (money(micros)) } }
                @if !session.sub_agents.is_empty() { (nested(&session.sub_agents, moment)) }
            } }
            @if sessions.len() > SUB_AGENTS { li { (grouped((sessions.len() - SUB_AGENTS) as u64)) " more on the session's page" } }
        }
    }
}
