//! Policy files: TOML or JSON, and where in them something is wrong.

use std::path::Path;

use annals::domain::Ordered;
use annals::domain::pipeline::EvictionPolicy;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_path_to_error::Segment;
use toml::de::DeTable;

use crate::error::{CliError, ErrorClass};
use crate::small_text::{self, NoText};

/// What is wrong with a text, and in which line, from 1.
#[derive(Debug, PartialEq, Eq)]
struct Wrong {
    line: Option<usize>,
    reason: String,
}

impl Wrong {
    fn at(line: Option<usize>, reason: impl Into<String>) -> Wrong {
        Wrong {
            line,
            reason: reason.into(),
        }
    }
}

/// Reads the policy in a file. A name that ends with `.json` or `.toml` says
/// which format it is; otherwise a brace at the beginning means JSON.
pub(crate) fn read(path: &Path) -> Result<EvictionPolicy, CliError> {
    let text = read_text(path)?;
    let extension = path.extension().and_then(|it| it.to_str());
    let is_json = match extension.map(str::to_ascii_lowercase).as_deref() {
        Some("json") => true,
        Some("toml") => false,
        _ => text.trim_start().starts_with('{'),
    };
    let policy = if is_json { json(&text) } else { toml(&text) };
    policy.map_err(|Wrong { line, reason }| wrong(path, line, &reason))
}

/// A file of a policy or a profile is not what it has to be.
pub(crate) fn wrong(path: &Path, line: Option<usize>, reason: &str) -> CliError {
    let line = line
        .map(|line| format!(", line {line}"))
        .unwrap_or_default();
    let message = format!("{}{line}: {reason}", path.display());
    CliError::new(ErrorClass::Invalid, "invalid_policy", message)
}

/// Reads a text as each of the two formats, for a fuzzer.
pub(crate) fn parse_any(text: &str) {
    let _ = (json(text).is_ok(), toml(text).is_ok());
}

pub(crate) fn read_text(path: &Path) -> Result<String, CliError> {
    let input = |source| CliError::input(path, source);
    let file = annals_files::open(path).map_err(input)?;
    small_text::read(file).map_err(|error| match error {
        NoText::Unreadable(source) => input(source),
        NoText::TooLong => wrong(path, None, "it is longer than 1 MiB, and no policy is"),
        NoText::NotUtf8 { .. } => wrong(path, None, "it is not UTF-8"),
    })
}

fn json(text: &str) -> Result<EvictionPolicy, Wrong> {
    one_policy_of_json(text)?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let policy = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().clone();
        let error = error.into_inner();
        let message = error.to_string();
        // The place is said by the line alone.
        let reason = message.split(" at line ").next().unwrap_or_default();
        let of_value = error.is_data() && !NAMED.iter().any(|it| reason.starts_with(it));
        let line = of_value
            .then(|| line_of_value(text, parts(&path)))
            .flatten();
        Wrong::at(line.or(Some(error.line()).filter(|line| *line > 0)), reason)
    })?;
    reader
        .end()
        .map_err(|error| Wrong::at(Some(error.line()), "something follows the policy"))?;
    checked(policy, |path| line_of_value(text, path))
}

/// A step into a value.
enum Part {
    Field(String),
    Item(usize),
}

/// The steps that lead to where an error was.
fn parts(path: &serde_path_to_error::Path) -> impl Iterator<Item = Part> + '_ {
    path.iter().filter_map(|segment| match segment {
        Segment::Map { key } => Some(Part::Field(key.clone())),
        Segment::Seq { index } => Some(Part::Item(*index)),
        // The name of a policy is a field in JSON.
        Segment::Enum { variant } => Some(Part::Field(variant.clone())),
        Segment::Unknown => None,
    })
}

/// The line on which the value begins that a path leads to.
fn line_of_value(text: &str, path: impl IntoIterator<Item = Part>) -> Option<usize> {
    let mut value: &RawValue = serde_json::from_str(text).ok()?;
    for part in path {
        value = match part {
            Part::Field(name) => {
                let fields: Ordered<&RawValue> = serde_json::from_str(value.get()).ok()?;
                fields.get(&name).copied()?
            }
            Part::Item(index) => {
                let items: Vec<&RawValue> = serde_json::from_str(value.get()).ok()?;
                items.get(index).copied()?
            }
        };
    }
    // It is a part of the text, so that its place in memory says its place in it.
    let byte = (value.get().as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    Some(line_at(text, byte))
}

fn toml(text: &str) -> Result<EvictionPolicy, Wrong> {
    let wrong = |error: toml::de::Error| {
        let line = error.span().map(|span| line_at(text, span.start));
        Wrong::at(line, error.message().trim())
    };
    let table = DeTable::parse(text).map_err(wrong)?;
    let mut names: Vec<_> = table.get_ref().keys().collect();
    names.sort_by_key(|name| name.span().start);
    match names.as_slice() {
        [_] => {}
        [] => return Err(Wrong::at(Some(1), NOTHING)),
        [_, second, ..] => {
            let line = line_at(text, second.span().start);
            return Err(Wrong::at(Some(line), second_policy(second.get_ref())));
        }
    }
    let table = table.get_ref();
    let reader = toml::Deserializer::parse(text).map_err(wrong)?;
    let policy = serde_path_to_error::deserialize(reader).map_err(|error| {
        let path: Vec<Part> = parts(error.path()).collect();
        let error = error.into_inner();
        let found = line_in_toml(text, table, &path);
        let named = NAMED.iter().any(|it| error.message().starts_with(it));
        let Wrong { line, reason } = wrong(error);
        Wrong::at(if named { line } else { found.or(line) }, reason)
    })?;
    checked(policy, |path| line_in_toml(text, table, &path))
}

/// Errors about a name, which readers place well. Those about a value they often
/// place behind it, or at the list that it is in.
const NAMED: [&str; 3] = ["unknown field", "duplicate field", "unknown variant"];

/// What is wrong with a file without a policy.
const NOTHING: &str = "there is no policy; `annals policy evictions` describes them";

fn second_policy(name: &str) -> String {
    format!("a file has one policy, and {name:?} is a second one")
}

/// Refuses a second policy by its name. A text that is not valid JSON is left to the caller,
/// which reads the policy.
fn one_policy_of_json(text: &str) -> Result<(), Wrong> {
    if text.trim().is_empty() {
        return Err(Wrong::at(Some(1), NOTHING));
    }
    let Ok(fields) = serde_json::from_str::<Ordered<IgnoredAny>>(text) else {
        if serde_json::from_str::<IgnoredAny>(text).is_err() {
            // Reading the policy says where.
            return Ok(());
        }
        let blank = text.len() - text.trim_start().len();
        let reason = "a policy is an object with one field, its name";
        return Err(Wrong::at(Some(line_at(text, blank)), reason));
    };
    match fields.0.as_slice() {
        [] => Err(Wrong::at(Some(1), NOTHING)),
        [_, (second, _), ..] => {
            let line = line_of_value(text, [Part::Field(second.clone())]);
            Err(Wrong::at(line, second_policy(second)))
        }
        [_] => Ok(()),
    }
}

/// A policy whose fields go together. `line` finds the one of a part of it.
fn checked(
    policy: EvictionPolicy,
    line: impl FnOnce(Vec<Part>) -> Option<usize>,
) -> Result<EvictionPolicy, Wrong> {
    let Err(error) = policy.check() else {
        return Ok(policy);
    };
    let name = policy.name();
    let field = Some(error.field).filter(|field| *field != name);
    let fields = std::iter::once(name).chain(field);
    let path = fields.map(|field| Part::Field(field.to_owned()));
    let path = path.chain(error.item.map(Part::Item)).collect();
    Err(Wrong::at(line(path), error.to_string()))
}

/// The line of the last part of a path that there is in a TOML file.
fn line_in_toml(text: &str, table: &DeTable<'_>, path: &[Part]) -> Option<usize> {
    let Some((Part::Field(name), rest)) = path.split_first() else {
        return None;
    };
    let mut value = table.get(name.as_str())?;
    for part in rest {
        let inner = match part {
            Part::Field(name) => value
                .get_ref()
                .as_table()
                .and_then(|it| it.get(name.as_str())),
            Part::Item(index) => value.get_ref().as_array().and_then(|it| it.get(*index)),
        };
        match inner {
            Some(inner) => value = inner,
            None => break,
        }
    }
    Some(line_at(text, value.span().start))
}

/// The line that a byte is in.
fn line_at(text: &str, byte: usize) -> usize {
    let before = text.as_bytes().get(..byte).unwrap_or(text.as_bytes());
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use annals::domain::pipeline::FrameKind;

    use super::*;

    #[test]
    fn both_formats_say_the_same() {
        let policy = EvictionPolicy::kind_quotas(
            [
                (FrameKind::ToolCall, 20),
                (FrameKind::Other("note".into()), 0),
            ],
            Some(50),
        );
        let as_toml = "# quotas\n[kind_quotas]\nothers = 50\n\n\
            [[kind_quotas.quotas]]\nkind = \"tool_call\"\nkeep = 20\n\n\
            [[kind_quotas.quotas]]\nkind = { other = \"note\" }\nkeep = 0\n";
        assert_eq!(toml(as_toml), Ok(policy.clone()));
        let as_json = serde_json::to_string(&policy).expect("it is written");
        assert_eq!(json(&as_json), Ok(policy));
        assert_eq!(toml("[unlimited]"), Ok(EvictionPolicy::unlimited()));
        assert_eq!(toml("unlimited = {}"), Ok(EvictionPolicy::unlimited()));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, line, word) in [
            ("[token_budget]\nmax_tokens = 0", 2, "from 1"),
            ("[token_budget]\nmax_token = 5", 2, "max_token"),
            ("# a\n\n[token_budget]\nmax_tokens = \"many\"", 4, "string"),
            ("[token_budget]\nmax_tokens = -5", 2, "-5"),
            (
                "[token_budget]\nmax_tokens = 5\nmax_tokens = 6",
                3,
                "duplicate",
            ),
            ("[token_budget]", 1, "max_tokens"),
            ("[newest]\nn = 1", 1, "newest"),
            (
                "[rolling_summary]\nmax_tokens = 10\nsummary_tokens = 10",
                3,
                "less",
            ),
            ("\n[least_recently_used]", 2, "no limit"),
            ("[max_frames]\nmax_frames = 3\n\n[unlimited]", 4, "second"),
            ("# nothing", 1, "no policy"),
            (
                "[kind_quotas]\nothers = 1\n[[kind_quotas.quotas]]\nkind = \"checkpoint\"\nkeep = 1",
                3,
                "protected",
            ),
            ("max_tokens = 5", 1, "max_tokens"),
            (
                "[[kind_quotas.quotas]]\nkind = \"tool_call\"\nkeep = 1\n\n[[kind_quotas.quotas]]\nkind = \"tool_call\"\nkeep = 2",
                5,
                "two quotas",
            ),
            (
                "[unlimited]\n# protected = []\nprotected = []",
                3,
                "protected",
            ),
            (
                "max_tokens = 5\n[token_budget]\nmax_tokens = 5",
                2,
                "second",
            ),
            ("[token_budget\n", 1, ""),
        ] {
            let wrong = toml(text).expect_err(text);
            assert_eq!(wrong.line, Some(line), "{text}: {wrong:?}");
            assert!(wrong.reason.contains(word), "{text}: {wrong:?}");
            assert!(
                !wrong.reason.is_empty() && !wrong.reason.contains('\n'),
                "{wrong:?}"
            );
        }
        for (text, line, word) in [
            (
                "{\n \"token_budget\": {\n  \"max_tokens\": 0\n }\n}",
                3,
                "from 1",
            ),
            ("{\n \"token_budget\": {\n  \"max\": 5\n }\n}", 3, "max"),
            ("{\"unlimited\": {},\n \"max_frames\": {}}", 2, "second"),
            ("{}", 1, "no policy"),
            (
                "{\"kind_quotas\": {\"quotas\": [\n{\"kind\": \"tool_call\", \"keep\": 1},\n{\"kind\": \"tool\",\n\"keep\": 1}\n]\n}}",
                3,
                "tool_call",
            ),
            ("{\"token_budget\":\n{\n}\n}", 2, "missing field"),
            ("{\"unlimited\": {}}\n}", 2, "follows"),
            ("{\"unlimited\":\n3\n}", 2, "integer"),
            ("", 1, ""),
            ("[1]", 1, "an object"),
            ("\n\"unlimited\"", 2, "an object"),
            (
                "{\"kind_quotas\":\n{\"quotas\": [\n{\"kind\": \"tool_call\", \"keep\": 1},\n{\"kind\": \"checkpoint\", \"keep\": 1}]}}",
                4,
                "protected",
            ),
            ("{\"least_recently_used\":\n{}}", 2, "no limit"),
        ] {
            let wrong = json(text).expect_err(text);
            assert_eq!(wrong.line, Some(line), "{text}: {wrong:?}");
            assert!(wrong.reason.contains(word), "{text}: {wrong:?}");
        }
    }
}
