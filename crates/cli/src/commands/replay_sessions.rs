//! `annals policy replay --sessions`: recorded commands under another policy profile.

use annals::projections::session_replay::{
    Aftermath, Class, Flip, Said, SessionReplayOptions, SessionsReplay,
};

use super::named::session;
use crate::cli::Replay;
use crate::context::{Context, through};
use crate::error::CliError;
use crate::output::{Column, Output, Rows, Style, counted, short};
use crate::profile_file;
use crate::progress;

pub(crate) async fn run(args: &Replay, context: &mut Context) -> Result<(), CliError> {
    // The command line demands both.
    let (Some(ids), Some(path)) = (&args.sessions, &args.profile) else {
        return Ok(());
    };
    let profile = profile_file::read(path)?;
    let annals = context.reader_at(&args.floor).await?;
    let through = through(&annals, args.at.as_ref()).await?;
    let mut sessions = Vec::new();
    for id in ids {
        let session = session(&annals, id).await?;
        if !sessions.contains(&session) {
            sessions.push(session);
        }
    }
    let bar = progress::bar("judging records", None);
    let mut shown = |read: u64| bar.set_position(read);
    let options = SessionReplayOptions::default()
        .with_through(through)
        .with_progress(&mut shown);
    let replayed = annals.sessions().replay(&sessions, &profile, options).await;
    bar.finish_and_clear();
    let replayed = replayed?;
    if context.output.is_json() {
        return context.output.json(&replayed);
    }
    print(&replayed, args.limit, &mut context.output)
}

fn print(replayed: &SessionsReplay, limit: usize, output: &mut Output) -> Result<(), CliError> {
    let title = format!(
        "profile {}: {} in {}, {} judged, {} flipped",
        replayed.profile,
        counted(replayed.commands, "command", "commands"),
        counted(replayed.sessions, "session", "sessions"),
        replayed.judged + replayed.without_verdict,
        replayed.flip_count(),
    );
    output.line(&output.style(Style::Bold, &title))?;
    verdicts(replayed, output)?;
    flips(replayed, output)?;
    approvals(replayed, output)?;
    flipped(&replayed.flipped, limit, output)?;
    remarks(replayed, output);
    Ok(())
}

fn verdicts(replayed: &SessionsReplay, output: &mut Output) -> Result<(), CliError> {
    let mut rows = Rows::new([
        Column::left("VERDICT", 10),
        Column::right("RECORDED", 8),
        Column::right("UNDER PROFILE", 13),
    ]);
    let row = |class: Class| {
        [
            class.word().to_owned(),
            replayed.recorded.of(class).to_string(),
            replayed.under_profile.of(class).to_string(),
        ]
    };
    rows.print(output, Class::ALL.into_iter().map(row))
}

fn flips(replayed: &SessionsReplay, output: &mut Output) -> Result<(), CliError> {
    if replayed.flips.is_empty() {
        return output.line("nothing flips");
    }
    let mut rows = Rows::new([
        Column::right("FLIPS", 6),
        Column::left("FROM", 10),
        Column::left("TO", 10),
        Column::left("BY", 10),
    ]);
    rows.print(
        output,
        replayed.flips.iter().map(|flip| {
            [
                flip.count.to_string(),
                flip.from.word().to_owned(),
                flip.to.word().to_owned(),
                flip.rule.clone().unwrap_or_else(|| "-".to_owned()),
            ]
        }),
    )
}

fn approvals(replayed: &SessionsReplay, output: &mut Output) -> Result<(), CliError> {
    let of = &replayed.approvals;
    if of.recorded == 0 && of.under_profile == 0 {
        return Ok(());
    }
    output.line(&format!(
        "approvals requested: {} recorded, {} under the profile ({} more, {} saved)",
        of.recorded, of.under_profile, of.asked, of.saved
    ))
}

fn flipped(flips: &[Flip], limit: usize, output: &mut Output) -> Result<(), CliError> {
    if flips.is_empty() || limit == 0 {
        return Ok(());
    }
    let mut rows = Rows::new([
        Column::right("POSITION", 8),
        Column::left("SESSION", 8),
        Column::left("COMMAND", 8),
        Column::left("KIND", 12),
        Column::left("RECORDED", 10),
        Column::left("UNDER PROFILE", 13),
        Column::left("RECORDED AFTERWARDS", 10),
    ]);
    rows.print(output, flips.iter().take(limit).map(row))?;
    let more = flips.len().saturating_sub(limit) as u64;
    if more > 0 {
        output.note(&format!(
            "{} left out; --limit shows more, --json all of them",
            counted(more, "flip is", "flips are")
        ));
    }
    Ok(())
}

fn row(flip: &Flip) -> [String; 7] {
    let mut afterwards: Vec<String> = flip
        .outcome
        .iter()
        .map(|outcome| format!("it ended with {outcome}"))
        .collect();
    afterwards.extend(parts(&flip.afterwards));
    [
        flip.position.to_string(),
        short(flip.session.0),
        short(flip.command.0),
        flip.kind.to_string(),
        told(&flip.recorded),
        told(&flip.under_profile),
        afterwards.join(", "),
    ]
}

fn told(said: &Said) -> String {
    let mut text = said.verdict.word().to_owned();
    if let Some(rule) = &said.rule {
        text.push_str(&format!(": {rule}"));
    }
    if let Some(time) = &said.retry_after {
        text.push_str(&format!(", until {time}"));
    }
    text
}

fn parts(of: &Aftermath) -> Vec<String> {
    let counts = [
        (of.patch_sets, "patch set", "patch sets"),
        (of.commits, "commit", "commits"),
        (of.commit_decisions, "commit decision", "commit decisions"),
        (of.tokens, "token", "tokens"),
    ];
    let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
    let mut parts: Vec<String> = counts.map(|(n, one, more)| counted(n, one, more)).collect();
    parts.extend(
        of.cost_usd
            .filter(|cost| *cost > 0.0)
            .map(|cost| format!("${cost:.2}")),
    );
    parts
}

/// What could not be judged, and why.
fn remarks(replayed: &SessionsReplay, output: &Output) {
    let unknown = &replayed.unknown;
    if unknown.no_command > 0 {
        output.note(&format!(
            "unknown: {} only as another system's verdict, without its request; \
             import the command log first",
            counted(unknown.no_command, "command is here", "commands are here")
        ));
    }
    if unknown.no_times > 0 {
        output.note(&format!(
            "unknown: {} up to the rate, but the stream has no times",
            counted(
                unknown.no_times,
                "command was judged",
                "commands were judged"
            )
        ));
    }
    if unknown.no_names > 0 {
        output.note(&format!(
            "unknown: {}, as names in them were removed by a redaction",
            counted(
                unknown.no_names,
                "command cannot be judged",
                "commands cannot be judged"
            )
        ));
    }
    if unknown.unsaid > 0 {
        output.note(&format!(
            "unknown: {} without the branch, the files, or what is checked out, that the profile asks for",
            counted(unknown.unsaid, "command was given", "commands were given")
        ));
    }
    if replayed.without_verdict > 0 {
        output.note(&format!(
            "{} no recorded verdict to compare with",
            counted(replayed.without_verdict, "command has", "commands have")
        ));
    }
}
