//! The header of a session's pages: title, facts, actions and tabs.

use maud::{Markup, html};

use super::neighbours::{self, Neighbours};
use crate::answer::{Asked, escaped};
use crate::figures::{Clock, counted, grouped, lines, money, or_unknown, span, tokens};
use crate::foreign;
use crate::html::command;
use crate::moment::Moment;
use crate::proof::ProofState;
use crate::session_entry::{SessionEntry, agent_name, badge, model_name};

/// Draws the header, with a tab marked as the current one.
pub(crate) fn draw(
    session: &SessionEntry,
    asked: &Asked,
    (clock, proof, beside): (Clock, ProofState, &Neighbours),
    tab: &str,
) -> Markup {
    html! {
        div.above { (crumb(session, asked.moment, false)) (neighbours::draw(beside, asked)) }
        div.titlebar {
            div {
                h1 { span.dot.(session.status) aria-hidden="true" {} span dir="auto" { (foreign::text(&session.name())) } }
                (ids(session, asked.moment))
            }
            (actions(session, asked))
        }
        (facts(session, clock))
        (tabs(session, asked.moment, proof, tab))
    }
}

/// Draws the header of a file: without links and actions.
pub(crate) fn still(session: &SessionEntry, clock: Clock) -> Markup {
    html! {
        div.titlebar { div {
            h1 { span dir="auto" { (foreign::text(&session.name())) } }
            div.ids {
                (badge(session.status))
                @if let Some(project) = &session.project_name { strong { (foreign::text(project)) } }
                @if let Some(agent) = &session.agent { span { (foreign::text(agent_name(agent))) } }
                @if let Some(model) = session.model() { span { (foreign::text(model_name(model))) } }
                @if let Some(branch) = &session.branch { span { "branch " code { (foreign::text(branch)) } } }
            }
        } }
        (facts(session, clock))
    }
}

/// The way up: the list, the project, the parent session.
pub(crate) fn crumb(session: &SessionEntry, moment: Moment, with_session: bool) -> Markup {
    html! {
        nav.crumb aria-label="Breadcrumb" {
            a href=(moment.link("/")) { "Sessions" }
            @if let (Some(project), Some(name)) = (&session.project, &session.project_name) {
                " / " a href=(moment.link(&format!("/?project={}", escaped(project)))) { (foreign::text(name)) }
            }
            @if let Some(parent) = session.parent { " / " a href=(moment.link(&format!("/sessions/{parent}"))) { "parent session" } }
            @if with_session { " / " a href=(moment.link(&session.address())) { "conversation" } }
        }
    }
}

fn ids(session: &SessionEntry, moment: Moment) -> Markup {
    let short = session
        .agent_session
        .as_deref()
        .map(|id| id.chars().take(6).collect::<String>());
    html! {
        div.ids {
            (badge(session.status))
            @if let Some(project) = &session.project_name { strong title=[session.project.as_deref()] { (foreign::text(project)) } }
            @if let Some(agent) = &session.agent {
                span { (foreign::text(agent_name(agent))) @if let Some(version) = &session.agent_version { " " (foreign::text(&foreign::cut(version, 20))) } }
            }
            @if let Some(model) = session.model() {
                span title=(session.models.join(", ")) { (foreign::text(model_name(model))) @if session.models.len() > 1 { " and " (session.models.len() - 1) " more" } }
            }
            @if let Some(branch) = &session.branch { span { "branch " code { (foreign::text(branch)) } } }
            @if let (Some(short), Some(whole)) = (short, &session.agent_session) { span.desk { "session " code title=(whole) { (foreign::text(&short)) } } }
            @if let Some(continues) = session.continues { span { a href=(moment.link(&format!("/sessions/{continues}"))) { "continues another session" } } }
            @if let Some(reason) = &session.end_reason { span { (foreign::text(&foreign::one_line(reason, 120))) } }
        }
    }
}

fn actions(session: &SessionEntry, asked: &Asked) -> Markup {
    let export = |format: &str| {
        asked
            .moment
            .link(&format!("{}/export?format={format}", session.address()))
    };
    let lasting = asked.lasting().unwrap_or_else(|| session.address());
    html! {
        div.actions {
            @if let Some(resume) = &session.resume {
                button.button.copy.main[!asked.moment.is_chosen] type="button" data-resume data-copy=(resume) title={ "Copy: " (resume) } hidden { "Resume" }
                noscript { code { (resume) } }
            }
            details.menu { summary.button { "Share " span aria-hidden="true" { "▾" } } div.wide {
                a href=(lasting) { "Permanent link" }
                div.pad { (command(&format!("annals share {}", session.id))) }
            } }
            details.menu { summary.button { "Export " span aria-hidden="true" { "▾" } } div {
                a href=(export("markdown")) download { "Markdown" }
                a href=(export("html")) download { "HTML, one file" }
                a href=(export("json")) download { "JSON" }
                div.pad { button.button.small.copy type="button" data-copy-from=(export("markdown")) hidden { "Copy as Markdown" } }
            } }
        }
    }
}

/// The session in figures.
fn facts(session: &SessionEntry, clock: Clock) -> Markup {
    let calls: Vec<String> = [
        (session.failed_calls, "failed"),
        (session.denied_calls, "denied"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, word)| format!("{} {word}", grouped(count)))
    .collect();
    html! {
        dl.facts {
            div { dt { "Started" } dd { (or_unknown(session.started, |at| clock.day_and_time(at))) } }
            div { dt { "Active time" } dd { @if session.active_ms > 0 { (span(session.active_ms)) } @else { "unknown" } } }
            div.desk { dt { "Prompts" } dd { (grouped(session.prompts)) } }
            div { dt { "Tool calls" } dd { (grouped(session.tool_calls)) @if !calls.is_empty() { " " small { (calls.join(", ")) } } } }
            div { dt { "Files" } dd { (grouped(session.files)) @if session.files > 0 { " " (lines(session.added, session.deleted)) } } }
            div { dt { "Tokens" } dd { @match &session.tokens {
                Some(used) => { (tokens(used.total.into())) @if let Some(cached) = used.cached() { " " small { (cached) " % from cache" } } }
                None => { "unknown" }
            } } }
            div { dt { "Cost" } dd { @match session.micros {
                Some(micros) => {
                    (money(micros))
                    @if session.sub_agent_cost_micros > 0 { " " small { "of it " (money(session.sub_agent_cost_micros.into())) " by sub-agents" } }
                    @if session.unpriced_tokens > 0 { " " small { "without " (tokens(session.unpriced_tokens.into())) " tokens that have no price" } }
                }
                None => { "unknown" }
            } } }
            @if !session.sub_agents.is_empty() { div.desk { dt { "Sub-agents" } dd { (counted(session.all_sub_agents().len() as u64, "session", "sessions")) } } }
        }
    }
}

/// The tabs: the pages of a session.
fn tabs(session: &SessionEntry, moment: Moment, proof: ProofState, current: &str) -> Markup {
    let tabs = [
        ("Conversation", ""),
        ("Timeline", "/timeline"),
        ("Context", "/context"),
        ("Files", "/files"),
        ("History", "/history"),
        ("Proof", "/proof"),
    ];
    let address = |path: &str| moment.link(&format!("{}{path}", session.address()));
    html! {
        nav.tabs aria-label="Session" { @for (name, path) in tabs {
            a href=(address(path)) aria-current=[(name == current).then_some("page")] { (name)
                @if name == "Files" { " " span.num.dim { (grouped(session.files)) } }
                @if name == "Proof" { (mark(proof)) }
            }
        } }
    }
}

/// The sign of a proof's state; none if nothing was checked.
fn mark(proof: ProofState) -> Markup {
    html! { @match proof {
        ProofState::Sound => { " " span.add aria-hidden="true" { "✓" } span.unseen { " verified" } }
        ProofState::Broken => { " " span.rem aria-hidden="true" { "✕" } span.unseen { " not sound" } }
        ProofState::Behind | ProofState::Unchecked => {}
    } }
}
