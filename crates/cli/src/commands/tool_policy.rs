//! `annals policy`: policies over tool calls, checked, tested and explained.

use std::io::Read as _;
use std::path::Path;

use annals_tool_policy::{
    Call, JudgedPart, Judgement, Policies, Rule, SCHEMA, Suite, Tested, Verdict,
};
use serde_json::json;

use crate::cli::{Otherwise, PolicyCheck, PolicyExplain, PolicyTest};
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::output::{Column, Output, Rows, Style, counted};
use crate::policy_file::{read_text, wrong};
use crate::small_text;
use crate::tool_policy_file;

pub(crate) fn check(args: &PolicyCheck, context: &mut Context) -> Result<(), CliError> {
    let policies = tool_policy_file::read(&args.files)?;
    let output = &mut context.output;
    if output.is_json() {
        return policies
            .rules()
            .iter()
            .try_for_each(|rule| output.json(rule.as_ref()));
    }
    let mut rows = Rows::new([
        Column::left("RULE", 24),
        Column::left("SAYS", 14),
        Column::left("FILE", 20),
        Column::right("LINE", 4),
        Column::left("REASON", 10),
    ]);
    let row = |rule: &Rule| {
        let default = if rule.is_default { " by default" } else { "" };
        [
            rule.id.clone(),
            format!("{}{default}", rule.verdict),
            rule.file.clone(),
            rule.line.to_string(),
            rule.reason.clone().unwrap_or_default(),
        ]
    };
    rows.print(output, policies.rules().iter().map(|rule| row(rule)))?;
    let number = policies.rules().len() as u64;
    output.line(&format!("{}, all valid", counted(number, "rule", "rules")))
}

pub(crate) fn schema(context: &mut Context) -> Result<(), CliError> {
    context.output.raw(SCHEMA.as_bytes())
}

pub(crate) fn test(args: &PolicyTest, context: &mut Context) -> Result<(), CliError> {
    let (mut passed, mut failed) = (0_u64, 0_u64);
    for path in &args.files {
        let results = run_suite(path)?;
        for tested in &results {
            match tested.passed {
                true => passed += 1,
                false => failed += 1,
            }
            show(path, tested, &mut context.output)?;
        }
    }
    let output = &mut context.output;
    if !output.is_json() {
        let passed = counted(passed, "test passed", "tests passed");
        output.line(&format!("{passed}, {failed} failed"))?;
    }
    if failed == 0 {
        return Ok(());
    }
    output.flush()?;
    let message = format!("{} of policies failed", counted(failed, "test", "tests"));
    Err(CliError::new(ErrorClass::Failed, "tests_failed", message)
        .hint("`annals policy explain` shows how a call is read"))
}

fn run_suite(path: &Path) -> Result<Vec<Tested>, CliError> {
    let text = read_text(path)?;
    let suite = Suite::parse(&text).map_err(|error| wrong(path, None, &error.to_string()))?;
    let mut policies = tool_policy_file::read(&suite.files(path))?;
    if let Some(verdict) = suite.otherwise {
        policies = policies.otherwise(verdict);
    }
    suite
        .run(&policies)
        .map_err(|error| wrong(path, None, &error.to_string()))
}

/// Shows a test that failed; as JSON every one.
fn show(path: &Path, tested: &Tested, output: &mut Output) -> Result<(), CliError> {
    if output.is_json() {
        return output.json(&json!({ "file": path.display().to_string(), "test": tested }));
    }
    if tested.passed {
        return Ok(());
    }
    let by = |rule: Option<&str>| rule.map(|rule| format!(" by {rule}")).unwrap_or_default();
    let found = &tested.found;
    let rules: Vec<&str> = found.rules.iter().map(|rule| rule.id.as_str()).collect();
    let rules = (!rules.is_empty()).then(|| rules.join(", "));
    output.line(&format!("{}: FAILED: {}", path.display(), tested.name))?;
    output.line(&format!(
        "  expected {}{}",
        tested.expected,
        by(tested.expected_rule.as_deref())
    ))?;
    output.line(&format!(
        "  found {}{}: {}",
        found.verdict,
        by(rules.as_deref()),
        found.reason
    ))
}

impl From<Otherwise> for Verdict {
    fn from(otherwise: Otherwise) -> Verdict {
        match otherwise {
            Otherwise::Allow => Verdict::Allow,
            Otherwise::Ask => Verdict::Ask,
            Otherwise::Deny => Verdict::Deny,
        }
    }
}

pub(crate) fn explain(args: &PolicyExplain, context: &mut Context) -> Result<(), CliError> {
    let policies: Policies = tool_policy_file::read(&args.files)?.otherwise(args.otherwise.into());
    let call = match (&args.call, &args.command) {
        (Some(text), _) => given(text)?,
        (None, command) => {
            let here = std::env::current_dir()
                .ok()
                .map(|path| path.display().to_string());
            let home = std::env::var("HOME").ok();
            Call::new("Bash", json!({ "command": command }))
                .with_cwd(here)
                .with_home(home)
        }
    };
    let judged = policies.judge(&call);
    match context.output.is_json() {
        true => context
            .output
            .json(&json!({ "call": call, "judgement": judged })),
        false => print(&judged, &mut context.output),
    }
}

/// A call as JSON.
fn given(text: &str) -> Result<Call, CliError> {
    let read;
    let text = match text {
        "-" => {
            let mut all = Vec::new();
            let input = |source| CliError::input(Path::new("-"), source);
            std::io::stdin()
                .take(MOST)
                .read_to_end(&mut all)
                .map_err(input)?;
            let invalid = || invalid_call("it is longer than 1 MiB, or not UTF-8");
            read = small_text::read(all.as_slice()).map_err(|_| invalid())?;
            read.as_str()
        }
        text => text,
    };
    serde_json::from_str(text).map_err(|error| invalid_call(&error.to_string()))
}

/// Bytes of a call that are read; one more than a small text has.
const MOST: u64 = 1024 * 1024 + 1;

fn invalid_call(reason: &str) -> CliError {
    let message = format!("invalid call: {reason}");
    CliError::new(ErrorClass::Invalid, "invalid_call", message).hint(
        "expected an object such as {\"tool\": \"Bash\", \"args\": {\"command\": \"ls\"}, \"cwd\": \"/work\"}",
    )
}

fn print(judged: &Judgement, output: &mut Output) -> Result<(), CliError> {
    let title = output.style(Style::Bold, judged.verdict.name());
    output.line(&format!("{title}: {}", judged.reason))?;
    for reason in &judged.unsure {
        output.line(&format!("not read: {reason}"))?;
    }
    let mut rows = Rows::new([
        Column::left("VERDICT", 7),
        Column::left("ACTION", 8),
        Column::left("ON", 30),
        Column::left("BY", 10),
    ]);
    rows.print(output, judged.parts.iter().map(row))
}

fn row(judged: &JudgedPart) -> [String; 4] {
    let part = &judged.part;
    let rules: Vec<&str> = judged.rules.iter().map(|rule| rule.id.as_str()).collect();
    let by = match (&judged.because, rules.as_slice()) {
        (Some(because), _) => because.clone(),
        (None, []) => "no rule objects".to_owned(),
        (None, rules) => rules.join(", "),
    };
    [
        judged.verdict.to_string(),
        part.action.clone(),
        format!("{} {}", part.resource.of.name(), part.resource.id),
        by,
    ]
}
