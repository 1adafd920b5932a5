//! A run as its document has it: messages, steps, and what is known of it as a whole.

use serde_json::value::{RawValue, to_raw_value};

use crate::import::bad_line::BadLine;
use crate::import::members::{Members, elements, texts};

/// So many messages and steps of a run are read: a step without anything in it takes a thousand times its length
/// in memory, and real runs have some hundred.
const MOST: usize = 50_000;

/// A run of the agent.
#[derive(Debug, Default)]
pub(super) struct Run<'a> {
    /// All that the document says of it.
    pub(super) text: &'a str,
    pub(super) messages: Vec<Message>,
    pub(super) steps: Vec<Step<'a>>,
    pub(super) info: Members<'a>,
    /// How it was set up, which it has from its beginning.
    pub(super) config: Option<&'a RawValue>,
    pub(super) environment: Option<String>,
    /// What a person asked for, and the template that was put around it.
    pub(super) problem: Option<String>,
    pub(super) template: Option<String>,
    pub(super) model: Option<String>,
    pub(super) version: Option<String>,
    pub(super) cwd: Option<String>,
    /// The members of its document that are not read.
    pub(super) rest: Vec<String>,
    /// Why its messages cannot be read to their end.
    pub(super) bad: Option<BadLine>,
}

/// A message of the conversation.
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) raw: Box<RawValue>,
    pub(super) role: String,
    pub(super) text: String,
    /// An example that was put before the task.
    pub(super) is_demo: bool,
}

/// A command with what came of it.
#[derive(Debug)]
pub(super) struct Step<'a> {
    pub(super) raw: &'a RawValue,
    pub(super) action: String,
    pub(super) response: String,
    pub(super) seconds: Option<f64>,
    pub(super) open_file: Option<String>,
    pub(super) cwd: Option<String>,
}

/// The runs of a document: one, but where the agent was let try several times.
pub(super) fn runs(text: &str) -> Result<Vec<Run<'_>>, BadLine> {
    if text.trim_start().starts_with('[') {
        let (list, error) = elements(text);
        let run = Run {
            text,
            messages: list.into_iter().take(MOST + 1).map(message).collect(),
            bad: error.map(Into::into),
            ..Run::default()
        };
        return Ok(vec![run.bounded()]);
    }
    if !text.trim_start().starts_with('{') {
        serde_json::from_str::<serde::de::IgnoredAny>(text)?;
        return Err(BadLine::NotAnObject);
    }
    let members = Members::read(text)?;
    let attempts = members.list("attempts");
    let mut runs: Vec<Run<'_>> = attempts
        .into_iter()
        .map(|raw| run(raw.get(), Members::of(Some(raw))))
        .collect();
    if !["history", "messages", "trajectory"]
        .iter()
        .all(|name| members.list(name).is_empty())
        || runs.is_empty()
    {
        runs.push(run(text, members));
    }
    Ok(runs)
}

fn run<'a>(text: &'a str, members: Members<'a>) -> Run<'a> {
    let steps = members.list("trajectory").into_iter().take(MOST + 1);
    let steps: Vec<Step<'_>> = steps.map(step).collect();
    let info = members.within("info");
    // It is written as an object, or as the text of one.
    let replayed: Option<String> = members.get("replay_config");
    let replayed = replayed.and_then(|text| RawValue::from_string(text).ok());
    let texts = Templates::of(&match &replayed {
        Some(raw) => Members::of(Some(raw)),
        None => members.within("replay_config"),
    });
    let mini = info.within("config");
    let mut messages: Vec<Message> = ["history", "messages"]
        .iter()
        .flat_map(|name| members.list(name))
        .take(MOST + 1)
        .map(message)
        .collect();
    if messages.is_empty() {
        messages = of_steps(&steps);
    }
    let known = [
        "history",
        "messages",
        "trajectory",
        "info",
        "replay_config",
        "environment",
        "attempts",
        "trajectory_format",
    ];
    let first = steps.first().and_then(|step| step.cwd.clone());
    Run {
        text,
        messages,
        config: members.raw("replay_config").or_else(|| info.raw("config")),
        environment: members.text("environment"),
        problem: texts.problem,
        template: texts
            .template
            .or_else(|| mini.within("agent").text("instance_template")),
        model: texts
            .model
            .or_else(|| mini.within("model").text("model_name")),
        version: info
            .text("swe_agent_version")
            .or_else(|| info.text("mini_version")),
        cwd: first.or_else(|| mini.within("environment").text("cwd")),
        rest: members
            .iter()
            .filter(|(name, _)| !known.contains(name))
            .map(|(name, _)| name.to_owned())
            .collect(),
        steps,
        info,
        bad: None,
    }
    .bounded()
}

impl Run<'_> {
    /// It as far as it is read.
    fn bounded(mut self) -> Self {
        if self.messages.len() > MOST || self.steps.len() > MOST {
            self.messages.truncate(MOST);
            self.steps.truncate(MOST);
            let reason = format!(
                "it has more than {MOST} messages or steps, the most that is read of a run"
            );
            self.bad = Some(BadLine::Document(reason));
        }
        self
    }
}

/// What a run's configuration says of its task.
struct Templates {
    problem: Option<String>,
    template: Option<String>,
    model: Option<String>,
}

impl Templates {
    fn of(config: &Members<'_>) -> Templates {
        let problem = config.within("problem_statement");
        let agent = config.within("agent");
        Templates {
            problem: problem.text("text"),
            template: agent.within("templates").text("instance_template"),
            model: agent.within("model").text("name"),
        }
    }
}

fn message(raw: &RawValue) -> Message {
    let members = Members::of(Some(raw));
    let is_response = members.text("object").as_deref() == Some("response");
    let role = match members.text("type").as_deref() {
        Some("function_call_output") => Some("tool".to_owned()),
        _ if is_response => Some("assistant".to_owned()),
        _ => members.text("role"),
    };
    let mut text = texts(members.raw("content").or_else(|| members.raw("output"))).join("\n");
    if is_response {
        let parts = members.list("output").into_iter();
        let parts = parts.flat_map(|part| texts(Members::of(Some(part)).raw("content")));
        text = parts.collect::<Vec<_>>().join("\n");
    }
    let is_demo = members.get("is_demo") == Some(true)
        || members.text("message_type").as_deref() == Some("demonstration");
    Message {
        raw: raw.to_owned(),
        role: role.unwrap_or_default(),
        text,
        is_demo,
    }
}

fn step(raw: &RawValue) -> Step<'_> {
    let members = Members::of(Some(raw));
    // Older versions write the state as a text.
    let text: Option<String> = members.get("state");
    let text = text.and_then(|text| RawValue::from_string(text).ok());
    let of = |name: &str| match &text {
        Some(raw) => Members::of(Some(raw)).text(name),
        None => members.within("state").text(name),
    };
    Step {
        raw,
        action: members.get("action").unwrap_or_default(),
        response: members.get("response").unwrap_or_default(),
        seconds: members.get("execution_time"),
        open_file: of("open_file").filter(|path| path != "n/a"),
        cwd: of("working_dir"),
    }
}

/// The conversation as the steps alone tell it.
fn of_steps(steps: &[Step<'_>]) -> Vec<Message> {
    let mut messages = Vec::new();
    if let Some(first) = steps.first() {
        let members = Members::of(Some(first.raw));
        let before = ["query", "messages"].map(|name| members.list(name));
        let before = before.into_iter().find(|list| !list.is_empty());
        messages.extend(before.unwrap_or_default().into_iter().map(message));
    }
    for step in steps {
        let observation = Members::of(Some(step.raw)).get::<String>("observation");
        let said = serde_json::json!({ "action": step.action, "content": step.response, "role": "assistant" });
        let seen =
            serde_json::json!({ "content": observation.unwrap_or_default(), "role": "user" });
        let made = [said, seen]
            .into_iter()
            .filter_map(|value| to_raw_value(&value).ok());
        messages.extend(made.map(|raw| message(&raw)));
    }
    messages
}
