//! `annals show --window`: what the model saw.

use annals::domain::pipeline::{EvictionPolicy, FrameRanges};
use annals::projections::{EvictedFrame, OverLimit, SeenFrame, Why, WindowView};
use annals::{FrameWas, SeenWindow, StepFrame};

use crate::context::Context;
use crate::error::CliError;
use crate::output::{Column, Output, Rows, Style, counted, short};

pub(crate) fn show(seen: &SeenWindow, context: &mut Context) -> Result<(), CliError> {
    let output = &mut context.output;
    if output.is_json() {
        return output.json(seen);
    }
    head(output, seen)?;
    frames(output, &seen.window)?;
    evicted(output, &seen.window.evicted)?;
    if !seen.step_frames.is_empty() {
        output.line("")?;
    }
    seen.step_frames
        .iter()
        .try_for_each(|frame| output.line(&step_frame(frame)))
}

fn head(output: &mut Output, seen: &SeenWindow) -> Result<(), CliError> {
    let window = &seen.window;
    let step = seen.step.map(|step| format!(" step {step}"));
    let position = seen.position.map(|at| format!(" at event {at}"));
    let title = format!(
        "window of {} {}{}{}",
        seen.object_type,
        short(seen.object_id),
        step.unwrap_or_default(),
        position.unwrap_or_default()
    );
    output.line(&output.style(Style::Bold, &title))?;
    let summary = window.rolling_summary.as_ref();
    let summary = summary.map(|summary| format!(" and {} of a summary", summary.token_estimate));
    let held = format!(
        "{}, {}{}; {} evicted before",
        counted(window.frames.len() as u64, "frame", "frames"),
        counted(window.total_token_estimate, "token", "tokens"),
        summary.unwrap_or_default(),
        window.evicted.len()
    );
    let mut fields = vec![
        ("pipeline", window.pipeline.to_string()),
        ("policy", policy(window)),
        ("holds", held),
    ];
    if let Some(over) = &window.over_limit {
        fields.push(("over its limit", over_limit(over)));
    }
    if let Some((start, end)) = seen.fwindow {
        let of = window.frames.get(start as usize..end as usize);
        let ids = of.map(|frames| frames.iter().map(|seen| seen.frame.frame_id).collect());
        let ids = ids.map(|ids| format!(", frames {}", numbers(&ids)));
        let text = format!("[{start}, {end}){}", ids.unwrap_or_default());
        fields.push(("fwindow", text));
    }
    output.fields(&fields)?;
    if let Some(summary) = &window.rolling_summary {
        for line in summary.text.lines() {
            output.line(&format!("  {line}"))?;
        }
    }
    Ok(())
}

/// A policy by its name and limits.
fn policy(window: &WindowView) -> String {
    match &window.policy {
        // Its limit is the pipeline's own.
        EvictionPolicy::MaxFrames(policy) => {
            let policy =
                EvictionPolicy::MaxFrames(policy.clone().with_max_frames(window.max_frames));
            policy.to_string()
        }
        policy => policy.to_string(),
    }
}

/// By how much a window is over its limit, and for how long.
pub(crate) fn over_limit(over: &OverLimit) -> String {
    let frames = over.frames.map(|n| counted(n, "frame", "frames"));
    let tokens = over.tokens.map(|n| counted(n, "token", "tokens"));
    let much: Vec<String> = frames.into_iter().chain(tokens).collect();
    let why = if over.until_next_push {
        "until the next push"
    } else {
        "all frames that are left are protected"
    };
    format!("by {}: {why}", much.join(", "))
}

fn frames(output: &mut Output, window: &WindowView) -> Result<(), CliError> {
    if window.frames.is_empty() {
        return Ok(());
    }
    output.line("")?;
    let mut rows = Rows::new([
        Column::right("FRAME", 5),
        Column::left("KIND", 15),
        Column::right("TOKENS", 6),
        Column::right("EVENT", 6),
        Column::left("WHY", 20),
        Column::left("SUMMARY", 20),
    ]);
    let row = |seen: &SeenFrame| {
        let tokens = seen.frame.token_estimate.map(|tokens| tokens.to_string());
        [
            seen.frame.frame_id.to_string(),
            seen.frame.kind.label(),
            tokens.unwrap_or_default(),
            seen.position.to_string(),
            why(&seen.why),
            first_line(&seen.frame.summary.to_string()),
        ]
    };
    rows.print(output, window.frames.iter().map(row))
}

fn first_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim);
    let line = lines.find(|line| !line.is_empty()).unwrap_or_default();
    line.chars().take(60).collect()
}

fn why(why: &Why) -> String {
    match why {
        Why::Protected => "its kind is protected".to_owned(),
        Why::Unlimited => "no limit".to_owned(),
        Why::Room { before_it: 0 } => "goes next".to_owned(),
        Why::Room { before_it } => format!("{before_it} older go first"),
        Why::Recent { before_it, used } => {
            let used = used.map(|used| {
                let inferred = if used.inferred { ", inferred" } else { "" };
                format!(
                    "; used by step {} of plan {} (event {}{inferred})",
                    used.step,
                    short(used.plan.0),
                    used.position
                )
            });
            let order = match before_it {
                0 => "goes next".to_owned(),
                n => format!("{n} used longer ago go first"),
            };
            format!("{order}{}", used.unwrap_or_default())
        }
        Why::Quota { keep, before_it } => {
            let of = format!("quota {keep}");
            match before_it {
                0 => format!("{of}; goes next of its kind"),
                n => format!("{of}; {n} older of its kind go first"),
            }
        }
    }
}

fn evicted(output: &mut Output, evicted: &[EvictedFrame]) -> Result<(), CliError> {
    if evicted.is_empty() {
        return Ok(());
    }
    output.line("")?;
    let mut rows = Rows::new([
        Column::right("EVICTED", 7),
        Column::left("KIND", 15),
        Column::right("TOKENS", 6),
        Column::right("BY PUSH OF", 10),
        Column::right("EVENT", 6),
    ]);
    let row = |gone: &EvictedFrame| {
        let tokens = gone.token_estimate.map(|tokens| tokens.to_string());
        [
            gone.frame.to_string(),
            gone.kind.label(),
            tokens.unwrap_or_default(),
            gone.pushed
                .map_or_else(|| "dropped".to_owned(), |pushed| pushed.to_string()),
            gone.position.to_string(),
        ]
    };
    rows.print(output, evicted.iter().map(row))
}

/// A frame that a plan's step was linked to, and where it was then.
pub(crate) fn step_frame(frame: &StepFrame) -> String {
    let did = if frame.consumed {
        "consumed"
    } else {
        "produced"
    };
    let inferred = if frame.inferred { " (inferred)" } else { "" };
    let was = match frame.was {
        FrameWas::InWindow => "in the window".to_owned(),
        FrameWas::Evicted {
            pushed: None,
            position,
        } => format!("dropped before by the agent's program (event {position})"),
        FrameWas::Evicted {
            pushed: Some(pushed),
            position,
        } => {
            format!("evicted before, by the push of frame {pushed} (event {position})")
        }
        FrameWas::Unknown => "not in the window".to_owned(),
    };
    format!(
        "step {} {did} frame {}{inferred} at event {}: {was}",
        frame.step, frame.frame, frame.position
    )
}

/// Frame numbers; a word where there are none.
pub(crate) fn numbers(ranges: &FrameRanges) -> String {
    match ranges.is_empty() {
        true => "none".to_owned(),
        false => ranges.to_string(),
    }
}
