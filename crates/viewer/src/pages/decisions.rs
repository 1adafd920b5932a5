//! Decisions on tool calls: each call with its verdict, the rule and the person.

use annals::domain::run::{GrantScope, ToolVerdict};
use annals::projections::{DecisionsQuery, JsonText, Text};
use annals::{Annals, DecidedCall};
use axum::response::Response;
use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::answer::{Asked, Live, Page, Slider};
use crate::figures::time;
use crate::html::{event, more, nothing, object, place, status};
use crate::model::Who;
use crate::pages::list::plain;
use crate::problem::Problem;

/// Characters of a call's arguments.
const WORDS: usize = 160;
/// Decisions of a page.
const SHOWN: usize = 50;

/// Part of the decisions, the newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Decisions {
    decisions: Vec<Decision>,
    /// Where it goes on, as `after`; null where this is the end.
    next: Option<u64>,
}

/// A decision on a tool call.
#[derive(Debug, Serialize, JsonSchema)]
struct Decision {
    /// The event that says it.
    position: u64,
    /// When it was, by what the event says.
    at: String,
    /// Who told of it.
    told_by: Who,
    /// The call.
    call: Uuid,
    /// Its run.
    run: Uuid,
    /// The tool's name.
    tool: Option<String>,
    /// The beginning of the arguments.
    arguments: String,
    /// Where the call is in its life now.
    status: String,
    /// What was decided: allow, deny or ask.
    verdict: String,
    /// How long it holds: once or for the session.
    scope: &'static str,
    /// What decided: a rule, a hook, a person, a mode, a classifier.
    by: String,
    /// The rule, the hook's command, the person's id, the mode.
    by_name: Option<String>,
    /// The file that has the rule or names the hook.
    source: Option<String>,
    /// What reported it, if that is not what records the call: `telemetry`, which any program that reaches the receiver
    /// can send.
    reported_by: Option<&'static str>,
    /// Why.
    reason: Option<String>,
    /// Whether it was not stated by the agent, but inferred.
    inferred: bool,
    /// Of a permission for a session, how often later decisions rest on it.
    uses: Option<u64>,
}

pub(crate) async fn decisions(asked: Asked) -> Result<Response, Problem> {
    let decisions = read(&asked).await?;
    let page = Page {
        title: "Decisions".to_owned(),
        section: "Decisions",
        live: Live::Log,
        slider: Slider::Positions,
        subject: None,
        markdown: markdown(&decisions),
        command: "annals policy decisions".to_owned(),
        data: decisions,
    };
    asked
        .answer(page, |decisions| draw(decisions, &asked))
        .await
}

async fn read(asked: &Asked) -> Result<Decisions, Problem> {
    let query = query(asked).await?;
    let limit = asked.params.limit()?.min(SHOWN);
    let mut after = query.after;
    let mut decisions = Vec::new();
    // One by one: what calls were given may be large, and only its beginning is kept.
    while decisions.len() < limit {
        let query = query.clone().with_after(after).with_limit(1);
        let page = asked.annals().tool_calls().decisions(&query).await?;
        decisions.extend(page.rows.iter().map(Decision::of));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    Ok(Decisions {
        decisions,
        next: after.map(|next| next.0),
    })
}

async fn query(asked: &Asked) -> Result<DecisionsQuery, Problem> {
    let verdicts = match asked.params.get("verdict") {
        None => Vec::new(),
        Some("allow") => vec![ToolVerdict::Allow],
        Some("deny") => vec![ToolVerdict::Deny],
        Some("ask") => vec![ToolVerdict::Ask],
        Some(other) => {
            let shown: String = other.chars().take(64).collect();
            let detail = format!("invalid verdict {shown:?}: expected allow, deny or ask");
            return Err(Problem::invalid(detail));
        }
    };
    let runs = match asked.params.get("of") {
        None => None,
        Some(name) => Some(runs(asked.annals(), name).await?),
    };
    let moment = asked.moment.position.next();
    let after = asked.params.position("after")?.unwrap_or(moment);
    Ok(DecisionsQuery::default()
        .with_verdicts(verdicts)
        .with_runs(runs)
        .with_tool(asked.params.get("tool").map(str::to_owned))
        .with_grants(asked.params.get("grants").is_some())
        .with_after(after.min(moment)))
}

/// The runs of a run, a task, an intent or a session.
async fn runs(annals: &Annals, name: &str) -> Result<Vec<Uuid>, Problem> {
    let object = annals.resolve(name).await?;
    Ok(annals.tool_calls().runs_of(object).await?)
}

impl Decision {
    fn of(decided: &DecidedCall) -> Decision {
        let decision = &decided.decision;
        let text = |text: &Option<Text>| text.as_ref().map(ToString::to_string);
        Decision {
            position: decision.moment.position.0,
            at: decision.moment.at.to_string(),
            told_by: Who::of(&decision.moment.told_by),
            call: decided.call.0,
            run: decided.run.0,
            tool: decided.tool.as_str().map(str::to_owned),
            arguments: words(decided.args.as_ref()),
            status: decided.status.to_string(),
            verdict: decision.verdict.to_string(),
            scope: match decision.scope {
                GrantScope::Once => "once",
                GrantScope::Session => "session",
                GrantScope::Settings => "settings",
            },
            by: decision.by.to_string(),
            by_name: text(&decision.by_name),
            source: text(&decision.source),
            reported_by: decision.reported_by,
            reason: text(&decision.reason),
            inferred: decision.inferred,
            uses: decided.uses.map(|uses| uses.count as u64),
        }
    }
}

/// The beginning of a call's arguments: the values, of which the first one mostly says it.
fn words(args: Option<&JsonText>) -> String {
    let text = match args {
        None => return String::new(),
        Some(JsonText::Removed) => return "removed".to_owned(),
        Some(JsonText::Present(json)) => json.text(),
    };
    let plain = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let value: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let text = match &value {
        serde_json::Value::Object(fields) => {
            let texts: Vec<String> = fields.values().map(plain).collect();
            texts.join(" ")
        }
        value => plain(value),
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let words = words.join(" ");
    match words.char_indices().nth(WORDS) {
        Some((end, _)) => format!("{}…", words.get(..end).unwrap_or_default()),
        None => words,
    }
}

fn draw(decisions: &Decisions, asked: &Asked) -> Markup {
    let at = match asked.moment.is_chosen {
        true => asked.moment.position.to_string(),
        false => String::new(),
    };
    html! {
        section {
            div.head { h1 { "Decisions" } (filters(asked, &at)) }
            @if decisions.decisions.is_empty() { (nothing("No decisions here.")) }
            @else { (table(decisions, asked)) }
            @if let Some(next) = decisions.next {
                (more(&asked.with(&[("after", &next.to_string()), ("at", &at)]), "Older"))
            }
        }
    }
}

fn filters(asked: &Asked, at: &str) -> Markup {
    let chosen = (asked.params.get("verdict"), asked.params.get("grants"));
    let filters = [
        ("all", "", ""),
        ("allowed", "allow", ""),
        ("denied", "deny", ""),
        ("asked", "ask", ""),
        ("for a session", "", "1"),
    ];
    html! {
        div.filters role="group" aria-label="Verdict" {
            @for (word, verdict, grants) in filters {
                @let is_it = chosen == (Some(verdict).filter(|it| !it.is_empty()), Some(grants).filter(|it| !it.is_empty()));
                a href=(asked.with(&[("verdict", verdict), ("grants", grants), ("after", ""), ("at", at)]))
                    aria-current=[is_it.then_some("true")] { (word) }
            }
        }
    }
}

fn table(decisions: &Decisions, asked: &Asked) -> Markup {
    let moment = asked.moment;
    html! {
        div.scroll { table.rows.stacked {
            thead { tr { th.right { "Event" } th.wide { "When" } th { "Verdict" } th { "Call" } th { "By" } th.wide { "Run" } } }
            tbody { @for one in &decisions.decisions { tr data-position=(one.position) {
                td.right data-label="event" { (event(one.position, moment)) }
                td.wide { (time(&one.at)) }
                td.nowrap { (status(&one.verdict)) @if one.scope == "session" { " " span.second { "session" } }
                    @if let Some(uses) = one.uses { " " span.second { "used " (uses) "×" } } }
                td.what { a href=(moment.link(&place(one.call))) { (one.tool.as_deref().unwrap_or("removed")) } " " code.second { (one.arguments) }
                    @if let Some(reason) = &one.reason { div.second { (reason) } } }
                td { (one.by) @if let Some(name) = &one.by_name { " " code { (name) } } @if one.inferred { " " span.second { "inferred" } }
                    @if let Some(reporter) = one.reported_by { div.second { "reported by " (reporter) } }
                    @else if let Some(source) = &one.source { div.second { (source) } } }
                td.wide { (object(one.run, moment)) }
            } } }
        } }
    }
}

fn markdown(decisions: &Decisions) -> String {
    let mut text = "# Decisions\n\n".to_owned();
    for one in &decisions.decisions {
        text.push_str(&format!(
            "- {} **{}** {} {} by {} {}{}\n",
            one.at,
            one.verdict,
            plain(one.tool.as_deref().unwrap_or("removed")),
            plain(&one.arguments),
            one.by,
            plain(one.by_name.as_deref().unwrap_or_default()),
            match one.reported_by {
                Some(reporter) => format!(" (reported by {reporter})"),
                None => String::new(),
            }
        ));
    }
    text
}
