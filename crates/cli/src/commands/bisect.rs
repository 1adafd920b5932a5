//! `annals object bisect`: the first event after which a condition on an object is another one.

use std::io::Write as _;
use std::process::{Command, Stdio};

use annals::projections::past::Condition;
use annals::{BisectOutcome, Bisected, Probe, TestAnswer};

use crate::cli::Bisect;
use crate::commands::difference;
use crate::context::{Context, moment};
use crate::error::{CliError, ErrorClass};
use crate::output::{Output, Style, counted};

/// The exit status of a command that cannot say whether the condition holds.
const SKIP: i32 = 125;
/// The greatest exit status that says that it does not hold; the two above are a shell's: it could not be run.
const FAILS: i32 = 124;

pub(crate) async fn run(args: &Bisect, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader_at(&args.floor).await?;
    let from = match &args.from {
        Some(from) => Some(moment(&annals, Some(from)).await?),
        None => None,
    };
    let to = moment(&annals, args.to.as_ref()).await?;
    let object = super::named::object(&annals, &args.id).await?;
    let output = &mut context.output;
    let mut failed = None;
    let test = |probe: &Probe<'_>| match answer(args, probe) {
        Ok(answer) => {
            let says = word(answer);
            output.note(&format!("after event {}: {says}", probe.position));
            answer
        }
        Err(error) => {
            failed = Some(error);
            TestAnswer::Stop
        }
    };
    let found = annals.past().bisect(object, from, to, test).await;
    if let Some(error) = failed {
        return Err(error);
    }
    let found = found?;
    if output.is_json() && matches!(found.outcome, BisectOutcome::Changed { .. }) {
        return output.json(&found);
    }
    print(&found, output)
}

fn word(answer: TestAnswer) -> &'static str {
    match answer {
        TestAnswer::Holds => "it holds",
        TestAnswer::Fails => "it fails",
        TestAnswer::Skip | TestAnswer::Stop => "it cannot be said",
    }
}

fn answer(args: &Bisect, probe: &Probe<'_>) -> Result<TestAnswer, CliError> {
    match &args.test {
        Some(condition) => Ok(compare(condition, probe)),
        None => ask(&args.command, probe),
    }
}

fn compare(condition: &Condition, probe: &Probe<'_>) -> TestAnswer {
    match condition.holds(probe.document) {
        true => TestAnswer::Holds,
        false => TestAnswer::Fails,
    }
}

/// Has a command say whether the condition holds.
fn ask(command: &[String], probe: &Probe<'_>) -> Result<TestAnswer, CliError> {
    let (program, arguments) = command.split_first().ok_or_else(|| {
        let message = "expected a condition: --test CONDITION, or -- COMMAND";
        CliError::new(ErrorClass::Usage, "usage", message)
    })?;
    let failed = |what: String| {
        let message = format!("{program} {what} after event {}", probe.position);
        CliError::new(ErrorClass::Failed, "test_failed", message).hint(
            "a command exits with 0 where the condition holds, with 1 to 124 where it fails, and with 125 where it \
             cannot say",
        )
    };
    let child = Command::new(program)
        .args(arguments)
        .env("ANNALS_POSITION", probe.position.to_string())
        .stdin(Stdio::piped())
        // Results of ours alone go to standard output.
        .stdout(std::io::stderr())
        .spawn();
    let mut child = child.map_err(|error| failed(format!("could not be run ({error})")))?;
    if let Some(mut input) = child.stdin.take() {
        // It need not read all of it.
        let _ = input.write_all(probe.json.as_bytes());
        let _ = input.write_all(b"\n");
    }
    let status = child.wait();
    let status = status.map_err(|error| failed(format!("could not be waited for ({error})")))?;
    match status.code() {
        Some(0) => Ok(TestAnswer::Holds),
        Some(SKIP) => Ok(TestAnswer::Skip),
        Some(code) if (1..=FAILS).contains(&code) => Ok(TestAnswer::Fails),
        Some(code) => Err(failed(format!("exited with {code}"))),
        None => Err(failed("was killed by a signal".to_owned())),
    }
}

fn print(found: &Bisected, output: &mut Output) -> Result<(), CliError> {
    let holds = |held: bool| if held { "holds" } else { "fails" };
    let ends: Vec<String> = found
        .probes
        .iter()
        .take(2)
        .map(|it| it.position.to_string())
        .collect();
    let ends = ends.join(" and ");
    let title = difference::title(found.object_type, found.object_id);
    match &found.outcome {
        BisectOutcome::Changed { before, candidates } => {
            let now = holds(!found.held);
            let which = match candidates.len() {
                1 => format!("the condition {now} after this event for the first time"),
                _ => format!(
                    "the condition {now} after one of these events for the first time; the views in between were skipped"
                ),
            };
            output.line(&output.style(Style::Bold, &format!("{title}: {which}")))?;
            for cause in candidates {
                output.line(&format!("  {}", difference::event(cause)))?;
            }
            let last = candidates.last().map_or(*before, |cause| cause.position);
            let views = counted(found.probes.len() as u64, "view", "views");
            let events = counted(found.events, "event", "events");
            let assumed = format!(
                "  {views} looked at for {events}; assumed: between events {ends} it changes once"
            );
            output.line(&output.style(Style::Dim, &assumed))?;
            let next = format!(
                "  what changed: annals diff {} {before} {last}",
                found.object_id
            );
            output.line(&output.style(Style::Dim, &next))
        }
        BisectOutcome::Same => {
            let message = format!(
                "nothing found on {title}: after events {ends}, the ends, the condition {} alike; it is assumed to change \
                 once in between",
                holds(found.held)
            );
            Err(CliError::new(ErrorClass::NotFound, "no_change", message).hint(
                "name other ends with --from and --to, between which it changes once; `annals object why ID FIELD` lists every \
                 change of a field",
            ))
        }
        BisectOutcome::Unknown { position } => {
            let message = format!(
                "after event {position}, one of the ends, the condition cannot be said of {title}"
            );
            Err(CliError::new(ErrorClass::NotFound, "unknown_end", message)
                .hint("name another end with --from or --to"))
        }
    }
}
