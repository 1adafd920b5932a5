//! `annals object compare`: two pieces of work side by side, and where they part.

use annals::projections::Tokens;
use annals::projections::past::Aligned;
use annals::{CompareSide, ComparedCall, Comparison, FileLines};

use crate::cli::Compare;
use crate::commands::difference::{cut, title};
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Column, Output, Rows, Style, counted, roughly, when};

/// Calls that are the same are cut where there are more than this in a row.
const SAME: usize = 8;
/// Of those that are cut so many are shown at the beginning, and at the end.
const AROUND: usize = 2;
/// Characters of a call's line, and of a prompt.
const LINE: usize = 110;
/// Prompts that are shown of each.
const PROMPTS: usize = 10;

pub(crate) async fn run(args: &Compare, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader_at(&args.floor).await?;
    let (a, b) = (
        super::named::object(&annals, &args.a).await?,
        super::named::object(&annals, &args.b).await?,
    );
    let found = annals.past().compare(a, b).await?;
    let (is_whole, output) = (context.is_verbose, &mut context.output);
    if output.is_json() {
        return output.json(&found);
    }
    facts(&found, output)?;
    prompts(&found, output)?;
    verdicts(&found, output)?;
    files(&found, output)?;
    calls(&found, is_whole, output)
}

fn facts(found: &Comparison, output: &mut Output) -> Result<(), CliError> {
    let (a, b) = (&found.a, &found.b);
    let mut rows = Rows::new([
        Column::left("", 10),
        Column::left("A", 30),
        Column::left("B", 30),
    ]);
    let row = |name: &str, of: &dyn Fn(&CompareSide) -> String| [name.to_owned(), of(a), of(b)];
    let shown = [
        row("object", &|side| title(side.object_type, side.object_id)),
        row("title", &|side| {
            cut(side.title.as_deref().unwrap_or("-"), LINE / 2)
        }),
        row("status", &|side| side.status.unwrap_or("-").to_owned()),
        row("runs", &|side| side.runs.to_string()),
        row("models", &|side| or_none(&side.models.join(", "))),
        row("began", &|side| side.began_at.map_or_else(none, when)),
        row("took", &took),
        row("prompts", &|side| side.prompts.len().to_string()),
        row("calls", &|side| side.calls.len().to_string()),
        row("of them failed", &|side| failed(side).to_string()),
        row("files", &|side| side.files.len().to_string()),
        row("tokens", &|side| {
            tokens(side, |it| roughly(it.total_tokens))
        }),
        row("cost", &|side| {
            tokens(side, |it| {
                it.cost_usd.map_or_else(none, |usd| format!("${usd:.2}"))
            })
        }),
    ];
    rows.print(output, shown)
}

fn none() -> String {
    "-".to_owned()
}

fn or_none(text: &str) -> String {
    match text {
        "" => none(),
        text => text.to_owned(),
    }
}

fn tokens(side: &CompareSide, shown: impl Fn(&Tokens) -> String) -> String {
    side.tokens.as_ref().map_or_else(none, shown)
}

fn took(side: &CompareSide) -> String {
    let (Some(began), Some(ended)) = (side.began_at, side.ended_at) else {
        return none();
    };
    let seconds = (ended.to_utc() - began.to_utc()).num_seconds();
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

fn failed(side: &CompareSide) -> usize {
    use annals::domain::run::CallStatus::{Denied, Error};
    let is_failed = |call: &&ComparedCall| matches!(call.status, Error | Denied);
    side.calls.iter().filter(is_failed).count()
}

fn heading(text: &str, output: &mut Output) -> Result<(), CliError> {
    output.line("")?;
    output.line(&output.style(Style::Bold, text))
}

/// A line that is of one of them alone, or of both.
fn marked(line: &str, (a, b): (bool, bool), output: &mut Output) -> Result<(), CliError> {
    let shown = match (a, b) {
        (true, false) => output.style(Style::Removed, &format!("- {line}")),
        (false, true) => output.style(Style::Added, &format!("+ {line}")),
        _ => format!("  {line}"),
    };
    output.line(&shown)
}

fn prompts(found: &Comparison, output: &mut Output) -> Result<(), CliError> {
    let (a, b) = (&found.a.prompts, &found.b.prompts);
    let Some(at) = found.prompts_part_at else {
        return heading(&format!("Prompts: the same ({})", a.len()), output);
    };
    heading(&format!("Prompts: they part at prompt {}", at + 1), output)?;
    for (list, of) in [(a, (true, false)), (b, (false, true))] {
        for prompt in list.iter().skip(at).take(PROMPTS) {
            let line = prompt.split_whitespace().collect::<Vec<_>>().join(" ");
            marked(&cut(&line, LINE), of, output)?;
        }
        let more = list.len().saturating_sub(at + PROMPTS);
        if more > 0 {
            marked(&format!("… {more} more"), of, output)?;
        }
    }
    Ok(())
}

fn verdicts(found: &Comparison, output: &mut Output) -> Result<(), CliError> {
    let (a, b) = (&found.a.verdicts, &found.b.verdicts);
    if a.is_empty() && b.is_empty() {
        return Ok(());
    }
    heading("Checks and decisions", output)?;
    for (list, of) in [(a, (true, false)), (b, (false, true))] {
        for check in list {
            let exit = check.exit_code.map(|code| format!(" -> exit {code}"));
            let line = format!(
                "{}: {}{} (event {})",
                check.what,
                cut(&check.name, LINE),
                exit.unwrap_or_default(),
                check.position
            );
            marked(&line, of, output)?;
        }
    }
    Ok(())
}

fn files(found: &Comparison, output: &mut Output) -> Result<(), CliError> {
    if found.files.is_empty() {
        return Ok(());
    }
    heading("Files", output)?;
    let lines = |file: &Option<FileLines>| match file {
        Some(file) => format!(
            "{} +{} -{}",
            file.change_type, file.lines_added, file.lines_deleted
        ),
        None => none(),
    };
    let mut rows = Rows::new([
        Column::left("FILE", 30),
        Column::left("A", 16),
        Column::left("B", 16),
    ]);
    let row = |it: &annals::FileBeside| [it.path.clone(), lines(&it.a), lines(&it.b)];
    rows.print(output, found.files.iter().map(row))
}

fn calls(found: &Comparison, is_whole: bool, output: &mut Output) -> Result<(), CliError> {
    let (a, b) = (&found.a.calls, &found.b.calls);
    let parting = match found.calls_part_at {
        None => "Calls: the same".to_owned(),
        Some(at) => {
            let place = |calls: &[ComparedCall]| match calls.get(at) {
                Some(call) => format!("event {}", call.position),
                None => "which has ended".to_owned(),
            };
            format!(
                "Calls: they part at call {} (A: {}, B: {}); - only A, + only B",
                at + 1,
                place(a),
                place(b)
            )
        }
    };
    heading(&parting, output)?;
    for stretch in found
        .calls
        .chunk_by(|one, next| is_both(one) == is_both(next))
    {
        let skipped = match is_both(&stretch[0]) && stretch.len() > SAME && !is_whole {
            true => AROUND..stretch.len() - AROUND,
            false => 0..0,
        };
        for (number, aligned) in stretch.iter().enumerate() {
            if number == skipped.start && !skipped.is_empty() {
                let same = counted(skipped.len() as u64, "call", "calls");
                output.line(&output.style(Style::Dim, &format!("  … the same {same} …")))?;
            }
            if !skipped.contains(&number) {
                let call = aligned.a.and_then(|at| a.get(at));
                let call = call.or(aligned.b.and_then(|at| b.get(at)));
                let of = (aligned.a.is_some(), aligned.b.is_some());
                if let Some(call) = call {
                    marked(&call_line(call), of, output)?;
                }
            }
        }
    }
    Ok(())
}

fn is_both(aligned: &Aligned) -> bool {
    aligned.a.is_some() && aligned.b.is_some()
}

/// A call in one line.
fn call_line(call: &ComparedCall) -> String {
    use annals::domain::run::CallStatus;
    let status = match call.status {
        CallStatus::Ok => String::new(),
        status => format!(" ({status})"),
    };
    format!("{}{status}", cut(&call.line, LINE))
}
