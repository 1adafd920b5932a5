//! `annals policy suggest`: rules for what people always allowed.

use annals_tool_policy::{Decided, Suggestion, suggest};

use super::recorded_calls::{self, Since};
use crate::cli::PolicySuggest;
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Output, counted};

pub(crate) async fn run(args: &PolicySuggest, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader_at(&args.floor).await?;
    let since = Since {
        since: args.since,
        through: None,
    };
    let calls = recorded_calls::read(&annals, since).await?;
    let decided: Vec<Decided> = calls
        .iter()
        .filter_map(|recorded| {
            let call = recorded_calls::call(recorded, None)?;
            // What ran without being asked about says nothing about people.
            recorded_calls::allowed_by_person(recorded).map(|allowed| Decided::new(call, allowed))
        })
        .collect();
    let found = suggest(&decided, args.least);
    let output = &mut context.output;
    if output.is_json() {
        return found.iter().try_for_each(|it| output.json(it));
    }
    print(&found, &decided, args.least, output)
}

fn print(
    found: &[Suggestion],
    decided: &[Decided],
    least: u64,
    output: &mut Output,
) -> Result<(), CliError> {
    let allowed = decided.iter().filter(|it| it.allowed).count() as u64;
    let denied = decided.len() as u64 - allowed;
    output.line("// Read each rule before you use it.")?;
    output.line(&format!(
        "// {} that people allowed, and {denied} that were denied; rules for what was allowed {least} times or more.",
        counted(allowed, "call", "calls"),
    ))?;
    for suggestion in found {
        output.line("")?;
        output.line(&format!(
            "// {}, such as:",
            counted(suggestion.calls, "call", "calls")
        ))?;
        for example in &suggestion.examples {
            output.line(&format!("//   {example}"))?;
        }
        output.lines(&suggestion.policy)?;
    }
    if found.is_empty() {
        output.note("nothing was allowed often enough, and always, to make a rule of it");
    }
    Ok(())
}
