//! `annals service apply`: executes commands, one JSON object a line.

mod input;
mod line;

use std::io::{BufRead, IsTerminal};
use std::path::Path;

use annals::domain::session::Verdict;
use annals::domain::{Command, CommandId, FrameId};
use annals::{Annals, Outcome};
use annals_dialects::lines::{Line, LineError, Lines};
use serde::Serialize;
use uuid::Uuid;

use self::line::{BadLine, Parsed};
use super::intake::analyzed;
use crate::cli::Apply;
use crate::context::Context;
use crate::error::{CliError, ErrorClass, SaidError};
use crate::output::Output;

/// Whether a line is a command, for a fuzzer.
pub(crate) fn is_command(line: &[u8]) -> bool {
    line::parse(line).is_ok()
}

/// What to do behind a line at which the log failed. A store that failed may have written it.
const REST: &str = "It is not known whether this line was recorded, and nothing after it was read. Look whether it is \
    there before you apply the rest; lines with a \"key\" can be applied again as they are";

/// The answer to a line.
#[derive(Serialize)]
struct Answer<'a> {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frame_id: Option<FrameId>,
    /// The agent's command that was given to a gate.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<CommandId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'a Verdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<SaidError>,
}

impl Answer<'_> {
    fn done(outcome: &Outcome) -> Answer<'_> {
        let verdict = outcome.verdict.as_ref();
        Answer {
            ok: true,
            line: None,
            id: outcome.id,
            position: Some(outcome.position.0),
            frame_id: outcome.frame_id,
            command: verdict.map(|(command, _)| *command),
            verdict: verdict.map(|(_, verdict)| verdict),
            error: None,
        }
    }

    fn refused(line: u64, error: SaidError) -> Answer<'static> {
        let (id, position, frame_id) = (None, None, None);
        Answer {
            ok: false,
            line: Some(line),
            id,
            position,
            frame_id,
            command: None,
            verdict: None,
            error: Some(error),
        }
    }
}

/// What was read and what came of it.
#[derive(Default)]
struct Tally {
    commands: u64,
    refused: u64,
}

pub(crate) async fn run(args: &Apply, context: &mut Context) -> Result<(), CliError> {
    // The input first: a file that is not there leaves the log alone.
    let mut input = input::open(&args.file)?;
    let annals = context.writer()?;
    hint(&args.file, &context.output);
    let mut tally = Tally::default();
    let ended = apply(&annals, args, &mut input, &mut context.output, &mut tally).await;
    annals.close().await;
    ended?;
    if tally.commands == 0 {
        context
            .output
            .note(&format!("there was no command in {}", args.file.display()));
    }
    match tally.refused {
        0 => Ok(()),
        refused => {
            let lines = tally.commands;
            let message =
                format!("{refused} of {lines} commands were refused; their answers say why");
            Err(CliError::new(ErrorClass::Refused, "refused", message))
        }
    }
}

/// Tells a user who starts `annals service apply` at a terminal what it waits for.
fn hint(file: &Path, output: &Output) {
    if file == Path::new("-") && std::io::stdin().is_terminal() {
        output.note("reading commands from the terminal, one JSON object a line; Ctrl-D ends");
    }
}

async fn apply(
    annals: &Annals,
    args: &Apply,
    input: &mut Lines<Box<dyn BufRead>>,
    output: &mut Output,
    tally: &mut Tally,
) -> Result<(), CliError> {
    for Line { number, bytes, .. } in input {
        let line = match bytes {
            Ok(text) if text.trim_ascii().is_empty() => continue,
            Ok(text) => line::parse(&text),
            Err(LineError::Unreadable(source)) => {
                return Err(CliError::input(&args.file, source));
            }
            Err(_) => Err(BadLine::too_long()),
        };
        tally.commands += 1;
        let mut failed = None;
        let outcome;
        let answer = match line {
            Err(bad) => Answer::refused(number, bad.said()),
            Ok(parsed) => match execute(annals, parsed).await {
                Ok(done) => {
                    outcome = done;
                    Answer::done(&outcome)
                }
                Err(error) => {
                    let said = error.said();
                    failed = (!error.is_about_request()).then_some(error);
                    Answer::refused(number, said)
                }
            },
        };
        tally.refused += u64::from(!answer.ok);
        let written = output.json(&answer).and_then(|()| output.flush());
        written.map_err(|error| match error {
            // The answers to the lines that follow would be lost.
            error if error.is_closed_output() => answers_unread(number),
            error => error,
        })?;
        if let Some(error) = failed {
            return Err(error.worded(|error| format!("line {number}: {error}. {REST}")));
        }
    }
    Ok(())
}

/// The reader of the answers has gone.
fn answers_unread(line: u64) -> CliError {
    let next = line + 1;
    let message = format!(
        "standard output was closed: line {line} was executed, nothing after it was read; go on from line {next}"
    );
    CliError::new(ErrorClass::Failed, "output", message)
}

async fn execute(annals: &Annals, parsed: Parsed) -> Result<Outcome, CliError> {
    let mut request = parsed.request;
    match &request.command {
        // It seals the object in its current state, which only the log knows.
        Command::Seal(seal) if seal.checksum.is_none() => {
            let object = seal.object;
            Ok(annals.proofs().seal(object, request).await?)
        }
        // What the agent answered is read here, where its format is known.
        Command::RecordAnalysis(analysis) if analysis.is_unread() => {
            request.command = analyzed(annals, analysis).await?.into();
            Ok(annals.execute(request).await?)
        }
        _ => Ok(annals.execute(request).await?),
    }
}
