//! The settings of an agent that were in force when it asked for a call, and what their rules say of it.
//!
//! Agents do not say by which rule they let a call through. Their settings files do, as they are at that moment: what
//! follows from them is recorded as inferred, together with the files. What is not certain is not inferred.

mod rules;

#[cfg(test)]
mod tests;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::Duration;

use annals::domain::run::{ToolDecider, ToolVerdict};
use annals_dialects::import::RedactedText;
use annals_dialects::live::{CallStep, Decided, FileSays};
use annals_dialects::secrets::Secrets;
use annals_tool_policy::Call;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::gate::PolicyFile;
use crate::hook::{HookAgent, Means, Surroundings, subject};

pub(crate) use self::rules::{Asked, Place, Rule};

/// The most bytes of a settings file that are read.
const LARGEST: u64 = 1024 * 1024;

/// What the settings of an agent say of a call, by its files as they are now. What is read of some that were kept has
/// yet to be looked through (`Settings::redacted`): its texts are others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Settings<T = RedactedText> {
    /// The files that are there.
    pub files: Vec<PolicyFile<T>>,
    /// What follows from them for the call; none, where nothing is certain.
    pub inferred: Option<Inferred<T>>,
}

/// What follows from settings for a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Inferred<T = RedactedText> {
    /// What becomes of it.
    pub verdict: ToolVerdict,
    /// Whether a rule says so, or else the mode.
    pub by: ToolDecider,
    /// The rule, or the mode.
    pub name: T,
    /// The file that the rule is in.
    pub source: Option<T>,
}

/// A settings file, and whether it is one of the organization's, which can leave out all others.
struct File {
    path: PathBuf,
    is_managed: bool,
}

impl Settings<String> {
    /// Some that were kept, without the secrets that somebody may have put there.
    pub(crate) fn redacted(self, secrets: &Secrets) -> Settings {
        let files = self.files.into_iter();
        Settings {
            files: files.map(|file| file.redacted(secrets)).collect(),
            inferred: self.inferred.map(|it| it.redacted(secrets)),
        }
    }
}

impl Inferred<String> {
    fn redacted(self, secrets: &Secrets) -> Inferred {
        let redacted = |text: &String| RedactedText::plain(text, secrets).0;
        Inferred {
            verdict: self.verdict,
            by: self.by,
            name: redacted(&self.name),
            source: self.source.as_ref().map(redacted),
        }
    }
}

impl Settings {
    /// Reads the settings that are in force for the call that an event is about. Nothing, where it is about none, the
    /// agent's settings are not known, or it takes longer than this: an agent waits for it.
    pub fn within(
        agent: HookAgent,
        bytes: &[u8],
        secrets: &Secrets,
        within: Duration,
    ) -> Option<Settings> {
        let around = Surroundings::of(agent);
        let call = subject(agent, bytes, &around)?;
        let secrets = secrets.clone();
        let (tell, told) = channel();
        let thread = std::thread::Builder::new().name("annals-settings".to_owned());
        let read = move || {
            let _ = tell.send(Settings::read(agent, &call, &around, &secrets));
        };
        thread.spawn(read).ok()?;
        told.recv_timeout(within).ok().flatten()
    }

    /// Reads the settings that are in force for a call. Nothing, for agents whose settings are not known.
    pub fn read(
        agent: HookAgent,
        call: &Call,
        around: &Surroundings,
        secrets: &Secrets,
    ) -> Option<Settings> {
        let places = places(agent, call, around)?;
        let read = places.iter().filter_map(|place| {
            let text = text(&place.path)?;
            Some((place, text))
        });
        let read: Vec<(&File, String)> = read.collect();
        let files = read
            .iter()
            .map(|(place, text)| PolicyFile::new(&place.path.to_string_lossy(), text, secrets));
        let inferred = match agent {
            HookAgent::Claude => infer(&read, call, around),
            _ => None,
        };
        Some(Settings {
            files: files.collect(),
            inferred: inferred.map(|inferred| inferred.redacted(secrets)),
        })
    }

    /// The files, as a decision has them.
    pub(crate) fn in_force(&self) -> Vec<(RedactedText, FileSays)> {
        self.files.iter().map(PolicyFile::says).collect()
    }

    /// Adds what follows from the settings to what an event tells of a call: a decision of its own, or what was in
    /// force and which rule it was where a person is asked.
    pub(crate) fn add(&self, means: Means, mode: Option<RedactedText>, steps: &mut Vec<CallStep>) {
        match means {
            Means::Requested => {
                let decided = self.decided(mode);
                steps.extend(decided.map(CallStep::Decided));
            }
            Means::Asked => {
                let asks = |inferred: &&Inferred| inferred.verdict == ToolVerdict::Ask;
                for step in steps {
                    let CallStep::Decided(decided) = step else {
                        continue;
                    };
                    decided.in_force = Some(self.in_force());
                    if let Some(rule) = self.inferred.as_ref().filter(asks) {
                        decided.by = rule.by;
                        decided.by_name = Some(rule.name.clone());
                        decided.source.clone_from(&rule.source);
                    }
                }
            }
            _ => {}
        }
    }

    /// The decision that follows, if one does.
    fn decided(&self, mode: Option<RedactedText>) -> Option<Decided> {
        let inferred = self.inferred.as_ref()?;
        Some(Decided {
            verdict: inferred.verdict,
            by: inferred.by,
            by_name: Some(inferred.name.clone()),
            source: inferred.source.clone(),
            scope: None,
            grant: None,
            reason: None,
            mode,
            is_inferred: true,
            in_force: Some(self.in_force()),
        })
    }
}

/// What follows from the settings of a project alone.
pub(crate) fn of_project(text: &str, call: &Call) -> Option<Inferred<String>> {
    let file = File {
        path: PathBuf::from("/work/app/.claude/settings.json"),
        is_managed: false,
    };
    infer(&[(&file, text.to_owned())], call, &Surroundings::default())
}

/// Where an agent's settings are, those first that count most.
fn places(agent: HookAgent, call: &Call, around: &Surroundings) -> Option<Vec<File>> {
    let home = around.home.as_deref().map(Path::new);
    let project = around.workspace.as_deref().or(call.cwd.as_deref());
    let project = project.map(Path::new).filter(|path| path.is_absolute());
    let own = |path: PathBuf| File {
        path,
        is_managed: false,
    };
    let managed = |path: &str| File {
        path: PathBuf::from(path),
        is_managed: true,
    };
    let mut places = Vec::new();
    match agent {
        HookAgent::Claude => {
            places.push(managed("/etc/claude-code/managed-settings.json"));
            places.push(managed(
                "/Library/Application Support/ClaudeCode/managed-settings.json",
            ));
            let in_project = project.map(|path| path.join(".claude"));
            places.extend(
                in_project
                    .iter()
                    .map(|it| own(it.join("settings.local.json"))),
            );
            places.extend(in_project.iter().map(|it| own(it.join("settings.json"))));
            let user = around.settings.as_deref().map(PathBuf::from);
            let user = user.or_else(|| home.map(|home| home.join(".claude")));
            places.extend(user.map(|it| own(it.join("settings.json"))));
        }
        HookAgent::Codex => {
            places.push(managed("/etc/codex/managed_config.toml"));
            places.extend(project.map(|it| own(it.join(".codex/config.toml"))));
            let user = around.settings.as_deref().map(PathBuf::from);
            let user = user.or_else(|| home.map(|home| home.join(".codex")));
            places.extend(user.map(|it| own(it.join("config.toml"))));
        }
        HookAgent::Cursor | HookAgent::Gemini => return None,
    }
    // A home that is worked on has one folder for both.
    let mut seen: Vec<PathBuf> = Vec::new();
    places.retain(|place| {
        let is_new = !seen.contains(&place.path);
        seen.push(place.path.clone());
        is_new
    });
    Some(places)
}

/// The text of a file; nothing, if it is not there, or is no file of settings.
fn text(path: &Path) -> Option<String> {
    let found = fs::metadata(path).ok()?;
    if !found.is_file() || found.len() > LARGEST {
        return None;
    }
    let mut text = String::new();
    let file = fs::File::open(path).ok()?;
    file.take(LARGEST).read_to_string(&mut text).ok()?;
    Some(text)
}

/// What the rules of Claude Code's settings say of a call, and its mode where none does: what is denied, then what is
/// asked, then what is allowed.
fn infer(read: &[(&File, String)], call: &Call, around: &Surroundings) -> Option<Inferred<String>> {
    // A file that cannot be read may say anything.
    let mut parsed = Vec::new();
    for (place, text) in read {
        let settings: Value = serde_json::from_str(text).ok()?;
        parsed.push((*place, settings));
    }
    let only_managed = |(place, settings): &(&File, Value)| {
        let only = settings.get("allowManagedPermissionRulesOnly");
        place.is_managed && only.and_then(Value::as_bool) == Some(true)
    };
    let is_only_managed = parsed.iter().any(only_managed);
    parsed.retain(|(place, _)| place.is_managed || !is_only_managed);
    let asked = Asked::of(call, around);
    let matching = |list: &str| {
        let files = parsed.iter().flat_map(|(place, settings)| {
            let rules = settings.get("permissions").and_then(|it| it.get(list));
            let rules = rules.and_then(Value::as_array).into_iter().flatten();
            let rules = rules.filter_map(Value::as_str);
            rules.map(|text| (Rule::parse(text), place.path.as_path()))
        });
        files.collect::<Vec<(Rule, &Path)>>()
    };
    for (list, verdict) in [("deny", ToolVerdict::Deny), ("ask", ToolVerdict::Ask)] {
        match asked.any(&matching(list)) {
            rules::Found::Rule(name, path) => return Some(by_rule(verdict, name, path)),
            rules::Found::Unknown => return None,
            rules::Found::None => {}
        }
    }
    let by_mode = |name: &str| Inferred {
        verdict: ToolVerdict::Allow,
        by: ToolDecider::Mode,
        name: name.to_owned(),
        source: None,
    };
    let mode = call.mode.as_deref();
    if mode == Some("bypassPermissions") {
        return Some(by_mode("bypassPermissions"));
    }
    if let Some((name, path)) = asked.all(&matching("allow")) {
        return Some(by_rule(ToolVerdict::Allow, name, path));
    }
    (mode == Some("acceptEdits") && asked.edits_inside()).then(|| by_mode("acceptEdits"))
}

fn by_rule(verdict: ToolVerdict, name: String, path: PathBuf) -> Inferred<String> {
    Inferred {
        verdict,
        by: ToolDecider::Rule,
        name,
        source: Some(path.to_string_lossy().into_owned()),
    }
}
