//! The OpenAPI document: every address of the API, what it takes and what it answers, from the types that answer.

use axum::response::Response;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::answer::{API, Envelope};
use crate::live::News;
use crate::pages::compare::Compare;
use crate::pages::costs::Costs;
use crate::pages::decisions::Decisions;
use crate::pages::diff::Diff;
use crate::pages::event::EventPage;
use crate::pages::home::SessionList;
use crate::pages::inbox::Inbox;
use crate::pages::list::{LISTS, List};
use crate::pages::log::EventList;
use crate::pages::object::Object;
use crate::pages::overview::Overview;
use crate::pages::search::{Search, SuggestionList};
use crate::pages::session::SessionConversation;
use crate::pages::session::context::SessionContext;
use crate::pages::session::files::SessionFiles;
use crate::pages::session::find::FoundTurns;
use crate::pages::session::history::SessionHistory;
use crate::pages::session::proof::SessionProof;
use crate::pages::session::timeline::SessionTimeline;
use crate::pages::timeline::Timeline;
use crate::pages::tree::Tree;
use crate::pages::window::Window;
use crate::problem::{Problem, ProblemJson};
use crate::shown;

/// An address of the API.
struct Described {
    path: &'static str,
    summary: &'static str,
    /// The parameters of its query.
    takes: &'static [&'static str],
    schema: fn(&mut SchemaGenerator) -> Schema,
}

fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Envelope<T>>()
}

/// What parameters mean.
const PARAMETERS: [(&str, &str, &str); 39] = [
    (
        "at",
        "string",
        "The moment that is shown: a position, or a time by the log's clock in the server's time zone, such as 2026-01-31, yesterday, 14:30, 2d (48 hours ago) or 2026-01-31T14:30:00Z. Left out: now.",
    ),
    (
        "version",
        "integer",
        "Instead of `at`: which of the object's own events is the last that is shown, from 1.",
    ),
    (
        "after",
        "integer",
        "Where a list goes on: the `next` of the part before.",
    ),
    (
        "from",
        "integer",
        "Where a part begins, from 0, of turns from 1: the `next` of the part before.",
    ),
    (
        "limit",
        "integer",
        "How many entries, 1 to 200; of turns, 1 to 1000.",
    ),
    (
        "order",
        "string",
        "`newest` or `oldest` first; of sessions, `asc` or `desc`.",
    ),
    (
        "status",
        "string",
        "Only objects in this status, as of `at`.",
    ),
    (
        "parent",
        "string",
        "Only objects that belong to this one: its id, its last digits or an alias.",
    ),
    (
        "verdict",
        "string",
        "Only decisions with this verdict: allow, deny or ask.",
    ),
    (
        "grants",
        "string",
        "Any value: only decisions that hold for a session.",
    ),
    ("tool", "string", "Only decisions on calls of this tool."),
    (
        "of",
        "string",
        "Only what belongs to this run, task, intent or session.",
    ),
    (
        "by",
        "string",
        "What costs are by: day, model, actor, run, task, intent, session or sub-agent; up to three, with commas.",
    ),
    (
        "since",
        "string",
        "Only what was used, or sessions with activity, from this day on, such as 2026-01-31 or yesterday, in the last N days, such as 7d, or from this time on, such as 14:30, 3h or an RFC 3339 time.",
    ),
    (
        "until",
        "string",
        "Only what was used, or sessions that began, up to the end of this day, or before this time. The forms are those of `since`.",
    ),
    (
        "zone",
        "string",
        "Whose days count: utc, local, an offset such as +02:00, or a name such as Europe/Berlin. Left out: local.",
    ),
    (
        "q",
        "string",
        "Words to search: \"a phrase\", begin*, -not.",
    ),
    (
        "in",
        "string",
        "Only in these texts: prompts, tools, results, rationale; several with commas.",
    ),
    ("kind", "string", "Only events on objects of this kind."),
    (
        "actor",
        "string",
        "Only events of this actor: an id, or KIND:ID.",
    ),
    (
        "newest",
        "string",
        "Any value: the newest first, not the best.",
    ),
    (
        "a",
        "string",
        "The first of two runs, tasks, intents or sessions.",
    ),
    ("b", "string", "The second of them."),
    (
        "beside",
        "string",
        "Another eviction policy to show beside the recorded one: max_frames, token_budget, rolling_summary, least_recently_used, kind_quotas or unlimited.",
    ),
    (
        "keep",
        "integer",
        "How much that policy keeps: frames, of token_budget and rolling_summary tokens, of kind_quotas frames of each kind.",
    ),
    (
        "id",
        "string",
        "The object: its id, at least its last 8 digits, or an alias.",
    ),
    (
        "position",
        "integer",
        "The event's place in the log; of a session, leads to the turn of that event.",
    ),
    (
        "session",
        "string",
        "The session: any unique beginning or end of its id or of the agent's session id, or @last.",
    ),
    (
        "project",
        "string",
        "Only sessions of this project, by its path or its label.",
    ),
    ("agent", "string", "Only sessions of this agent."),
    ("model", "string", "Only sessions that used this model."),
    (
        "date",
        "string",
        "Only sessions with activity on this day, such as 2026-01-31 or today, in the last N days, such as 7d, or since another time in the forms of `since`.",
    ),
    (
        "cost",
        "string",
        "Only sessions that cost at least this amount in USD, such as 5, at most, such as ..5, or both, such as 1..5. A cost that is not known is below no amount.",
    ),
    (
        "touched",
        "string",
        "Only sessions that changed a file that matches this pattern, such as *.ts.",
    ),
    (
        "waiting",
        "string",
        "Any value: only sessions that wait for a person.",
    ),
    ("failed", "string", "Any value: only what failed."),
    (
        "sort",
        "string",
        "The column to sort by: activity, title, project, agent, active, prompts, files, tokens or cost.",
    ),
    ("prompt", "integer", "Only changes of this prompt."),
    (
        "run",
        "integer",
        "The number of a run with a context, from 1. Left out: the newest one.",
    ),
];

const LIST: &[&str] = &["at", "after", "limit", "status", "parent"];

const fn one(
    path: &'static str,
    summary: &'static str,
    takes: &'static [&'static str],
    schema: fn(&mut SchemaGenerator) -> Schema,
) -> Described {
    Described {
        path,
        summary,
        takes,
        schema,
    }
}

/// What is asked of a part of a list of events.
const EVENTS: &[&str] = &["at", "after", "limit", "order"];
const HISTORY: &[&str] = &["at", "version", "after", "limit", "order"];
const DECISIONS: &[&str] = &["at", "after", "limit", "verdict", "grants", "tool", "of"];
const PART: &[&str] = &["at", "version", "from"];
const WINDOW: &[&str] = &["at", "version", "from", "beside", "keep"];
const COSTS: &[&str] = &["by", "of", "since", "until", "zone", "from", "limit"];
const SEARCH: &[&str] = &["q", "in", "kind", "actor", "newest", "at", "from", "limit"];
const COMPARE: &[&str] = &["a", "b", "at", "from", "limit"];
const SESSIONS: &[&str] = &[
    "project", "agent", "model", "date", "since", "until", "cost", "touched", "q", "waiting",
    "failed", "sort", "order", "at", "from", "limit",
];
const TURNS: &[&str] = &["at", "from", "limit"];
const CONVERSATION: &[&str] = &["at", "from", "limit", "position"];
const TREE: &str = "An object with what belongs to it, and what belongs to that.";
const OVERVIEW: &str = "What is running, what failed, what waits for a person, and what came last.";
const INBOX: &str = "What waits for a person now, and the commands that resolve it.";

/// The addresses that are not lists of objects.
const DESCRIBED: [Described; 25] = [
    one(
        "/sessions",
        "Sessions, newest activity first.",
        SESSIONS,
        of::<SessionList>,
    ),
    one(
        "/sessions/{session}",
        "A session with a part of its conversation.",
        CONVERSATION,
        of::<SessionConversation>,
    ),
    one(
        "/sessions/{session}/conversation",
        "A session with a part of its conversation.",
        CONVERSATION,
        of::<SessionConversation>,
    ),
    one(
        "/sessions/{session}/turns",
        "A session with a part of its conversation.",
        TURNS,
        of::<SessionConversation>,
    ),
    one(
        "/sessions/{session}/find",
        "Turns of a session that hold a text, or that failed.",
        &["q", "failed", "at"],
        of::<FoundTurns>,
    ),
    one(
        "/sessions/{session}/files",
        "The files that a session changed.",
        &["prompt", "at", "from"],
        of::<SessionFiles>,
    ),
    one(
        "/sessions/{session}/timeline",
        "A session as a timeline, over all of its runs.",
        &["at", "from"],
        of::<SessionTimeline>,
    ),
    one(
        "/sessions/{session}/context",
        "The context window of a run of a session, and another policy beside it.",
        &["at", "run", "from", "beside", "keep"],
        of::<SessionContext>,
    ),
    one(
        "/sessions/{session}/history",
        "The events of a session's task, runs and pipelines, the newest first.",
        EVENTS,
        of::<SessionHistory>,
    ),
    one(
        "/sessions/{session}/proof",
        "The proof of a session, with the inclusion of its newest event.",
        &["at"],
        of::<SessionProof>,
    ),
    one("/overview", OVERVIEW, &["at"], of::<Overview>),
    one("/inbox", INBOX, &["after", "limit"], of::<Inbox>),
    one(
        "/decisions",
        "Decisions on tool calls, the newest first.",
        DECISIONS,
        of::<Decisions>,
    ),
    one("/costs", "What agents' work cost, now.", COSTS, of::<Costs>),
    one("/search", "Events by their words.", SEARCH, of::<Search>),
    one(
        "/search/suggestions",
        "A few turns of a few sessions for words that are being typed: the last one may be incomplete.",
        &["q", "at"],
        of::<SuggestionList>,
    ),
    one(
        "/compare",
        "Two runs, tasks, intents or sessions side by side.",
        COMPARE,
        of::<Compare>,
    ),
    one("/log", "The log's events.", EVENTS, of::<EventList>),
    one(
        "/events/{position}",
        "One event, with all that it says.",
        &[],
        of::<EventPage>,
    ),
    one(
        "/objects/{id}",
        "An object.",
        &["at", "version"],
        of::<Object>,
    ),
    one(
        "/objects/{id}/history",
        "What happened to an object.",
        HISTORY,
        of::<EventList>,
    ),
    one("/objects/{id}/tree", TREE, &["at", "version"], of::<Tree>),
    one(
        "/objects/{id}/timeline",
        "A run as a timeline.",
        PART,
        of::<Timeline>,
    ),
    one(
        "/objects/{id}/window",
        "The context window that an object had, and another policy beside it.",
        WINDOW,
        of::<Window>,
    ),
    one(
        "/objects/{id}/diff",
        "What a patch set changes.",
        &["at", "from"],
        of::<Diff>,
    ),
];

fn described() -> impl Iterator<Item = Described> {
    let lists = LISTS.iter();
    let lists = lists.map(|listed| one(listed.path, listed.title, LIST, of::<List>));
    DESCRIBED.into_iter().chain(lists)
}

pub(crate) async fn openapi() -> Result<Response, Problem> {
    shown::json(&document())
}

/// The document.
fn document() -> Value {
    let settings = SchemaSettings::draft2020_12();
    let settings =
        settings.with(|settings| settings.definitions_path = "/components/schemas".into());
    let mut generator = settings.into_generator();
    let problem = generator.subschema_for::<ProblemJson>();
    let problem = json!({
        "description": "What is wrong with the request, or went wrong.",
        "content": { "application/problem+json": { "schema": problem } },
    });
    let mut paths = Map::new();
    for one in described() {
        let schema = (one.schema)(&mut generator);
        let content = json!({ "application/json": { "schema": schema } });
        paths.insert(
            format!("{API}{}", one.path),
            operation(&one, content, &problem),
        );
    }
    let news = generator.subschema_for::<News>();
    let live = Described {
        path: "/live",
        summary: "What is new in the log, as server-sent events named `records`, behind `after` or from now on.",
        takes: &["after"],
        schema: of::<News>,
    };
    let content = json!({ "text/event-stream": { "schema": news } });
    paths.insert(format!("{API}/live"), operation(&live, content, &problem));
    let schemas = generator.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Annals, for reading",
            "version": "1",
            "description": "Each page of the viewer as JSON: its address with /api/v1 before it. Nothing here changes the log.",
        },
        "paths": paths,
        "components": { "schemas": schemas },
    })
}

fn operation(one: &Described, content: Value, problem: &Value) -> Value {
    let in_path = one
        .path
        .split('/')
        .filter_map(|part| part.strip_prefix('{'));
    let in_path: Vec<&str> = in_path.map(|part| part.trim_end_matches('}')).collect();
    let named = in_path.iter().chain(one.takes);
    let parameters: Vec<Value> = named
        .map(|name| {
            let known = PARAMETERS.iter().find(|(known, ..)| known == name);
            let (_, kind, description) = known.copied().unwrap_or((name, "string", ""));
            let is_in_path = in_path.contains(name);
            json!({
                "name": name,
                "in": if is_in_path { "path" } else { "query" },
                "required": is_in_path,
                "description": description,
                "schema": { "type": kind },
            })
        })
        .collect();
    json!({ "get": {
        "summary": one.summary,
        "parameters": parameters,
        "responses": { "200": { "description": "The answer.", "content": content }, "default": problem },
    } })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_document_refers_to_nothing_that_is_not_there() {
        let document = document();
        let schemas = document["components"]["schemas"].as_object().unwrap();
        let text = document.to_string();
        let references = text.split("\"#/components/schemas/").skip(1);
        let mut checked = 0;
        for reference in references {
            let name = reference.split('"').next().unwrap();
            assert!(schemas.contains_key(name), "{name}");
            checked += 1;
        }
        assert!(checked > 20, "{checked}");
        assert!(!text.contains("$defs"), "definitions have one place");
    }

    #[test]
    fn every_parameter_says_what_it_means() {
        for one in described() {
            for name in one.takes {
                let known = PARAMETERS.iter().any(|(known, ..)| known == name);
                assert!(known, "{name} of {}", one.path);
            }
        }
    }
}
