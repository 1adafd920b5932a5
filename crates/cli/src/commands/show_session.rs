//! `annals show SESSION`: a session's conversation.

pub(super) mod diffs;
mod files;
mod header;
mod json;
mod print;
pub(super) mod walk;

use annals::projections::{Diffs, Folding, LineWriter, SessionSummary, TextLine, Turn, TurnBody};
use annals::{Annals, At, SessionListed, TurnRange};
use uuid::Uuid;

use self::print::print;
use self::walk::{Step, Walk};
use crate::cli::Show;
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::output::{Style, counted, when};

pub(super) use self::header::{cost_of, sub_agent as sub_agent_line};
pub(super) use self::print::print as print_lines;

/// Prints a session's conversation, one of its turns or its files.
pub(super) async fn run(
    annals: &Annals,
    session: Uuid,
    at: At,
    args: &Show,
    context: &mut Context,
) -> Result<(), CliError> {
    if let Some(number) = args.turn {
        let range = TurnRange::new(number, 1);
        let mut walk = Walk::begin(annals, session, at, range).await?;
        return turn(&mut walk, number, context).await;
    }
    let mut walk = Walk::begin(annals, session, at, TurnRange::all()).await?;
    if args.diff {
        return diffs::run(annals, &mut walk, context).await;
    }
    if args.files {
        return files::run(&mut walk, context).await;
    }
    if context.output.is_json() {
        return json::run(&mut walk, context).await;
    }
    header::print(&walk, context)?;
    let folding = match args.full {
        true => Folding::Open,
        false => Folding::Folded,
    };
    conversation(&mut walk, folding, context).await
}

/// Prints all turns of a session. Unless everything is open, a sub-agent's session is one line.
async fn conversation(
    walk: &mut Walk<'_>,
    folding: Folding,
    context: &mut Context,
) -> Result<(), CliError> {
    let is_open = folding == Folding::Open;
    walk.enters_sub_agents(is_open);
    let mut writers = vec![LineWriter::new(folding, when)];
    let mut lines: Vec<TextLine> = Vec::new();
    while let Some(step) = walk.next().await? {
        let Some(writer) = writers.last_mut() else {
            break;
        };
        match step {
            // The line of the session follows.
            Step::Turn(turn) if matches!(turn.body, TurnBody::SubAgent { .. }) => {}
            Step::Turn(turn) => {
                let diffs = match is_open {
                    true => walk.diffs(&turn).await?,
                    false => Diffs::new(),
                };
                writer.turn(&turn, &diffs, &mut lines);
            }
            Step::SubAgent { session, .. } => {
                writer.finish(&mut lines);
                lines.push(writer.sub_agent(&header::sub_agent(walk.listed(session))));
                if is_open {
                    let nested = writer.nested();
                    writers.push(nested);
                }
            }
            Step::End => {
                writer.finish(&mut lines);
                writers.pop();
            }
        }
        print(&mut lines, &mut context.output)?;
    }
    for writer in &mut writers {
        writer.finish(&mut lines);
    }
    print(&mut lines, &mut context.output)
}

/// Prints one turn, open.
async fn turn(walk: &mut Walk<'_>, number: u64, context: &mut Context) -> Result<(), CliError> {
    let Some(Step::Turn(turn)) = walk.next().await? else {
        return Err(no_turn(number, walk.total()));
    };
    if context.output.is_json() {
        return json::one(walk, &turn, context);
    }
    one(walk, &turn, context).await
}

async fn one(walk: &Walk<'_>, turn: &Turn, context: &mut Context) -> Result<(), CliError> {
    let title = title(walk.summary());
    let title = context.output.style(Style::Bold, &title);
    context
        .output
        .line(&format!("{title}  turn {}", turn.number))?;
    let diffs = walk.diffs(turn).await?;
    let mut writer = LineWriter::new(Folding::Open, when);
    let mut lines = Vec::new();
    writer.turn(turn, &diffs, &mut lines);
    writer.finish(&mut lines);
    print(&mut lines, &mut context.output)
}

fn no_turn(number: u64, total: Option<u64>) -> CliError {
    let has = total.map_or_else(String::new, |total| {
        format!(": the session has {}", counted(total, "turn", "turns"))
    });
    let message = format!("no turn {number}{has}");
    CliError::new(ErrorClass::NotFound, "no_turn", message)
}

/// A session as `annals ls --json` prints it.
pub(super) fn session_json(session: &SessionListed) -> Result<serde_json::Value, CliError> {
    json::session(Some(session))
}

/// The title of a session, or the words for its absence.
pub(super) fn title(session: &SessionSummary) -> String {
    let title = session.title_or_words();
    title.split_whitespace().collect::<Vec<_>>().join(" ")
}
