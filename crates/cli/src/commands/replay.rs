//! `annals replay`: recorded histories under other policies.

use std::collections::BTreeSet;
use std::path::Path;

use annals::domain::pipeline::EvictionPolicy;
use annals::domain::{Kind, PipelineId};
use annals::event_log::Position;
use annals::projections::ListQuery;
use annals::projections::replay::{
    Candidate, PipelineReplay, PolicyReplay, ReplayOptions, WindowAt, Yardstick,
};
use annals::{Annals, At, ViewError};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::window::numbers;
use crate::cli::Replay;
use crate::context::{Context, reached};
use crate::error::CliError;
use crate::output::{Column, Output, Rows, Style, counted, short};
use crate::policy_file;
use crate::progress;

/// Pipelines that are listed at once.
const PAGE: usize = 1_000;

pub(crate) async fn run(args: &Replay, context: &mut Context) -> Result<(), CliError> {
    let policies = read_policies(args)?;
    let through = match args.moment.at() {
        At::Now => None,
        At::Position(position) => Some(position),
        At::Recorded(_) | At::Occurred(_) => return Err(CliError::ReplayAt),
    };
    let annals = context.reader_at(&args.floor).await?;
    reached(&annals, args.moment.at())?;
    let pipelines = match &args.pipeline {
        Some(id) => vec![pipeline(&annals, id).await?],
        None => all_pipelines(&annals, through).await?,
    };
    let candidates: Vec<Candidate<'_>> = policies
        .iter()
        .map(|(name, policy)| Candidate::policy(name.as_str(), policy.clone()))
        .collect();
    let mut replayed = Vec::new();
    for pipeline in pipelines {
        let one = Asked {
            pipeline,
            candidates: &candidates,
            through,
            args,
        };
        replayed.push(one.replay(&annals, context).await?);
    }
    report(args, &replayed, &mut context.output)
}

/// The candidates, each by the name of its file.
fn read_policies(args: &Replay) -> Result<Vec<(String, EvictionPolicy)>, CliError> {
    let mut names = BTreeSet::from(["recorded".to_owned()]);
    let mut policies = Vec::new();
    for path in &args.policies {
        let name = name_of(path);
        if !names.insert(name.clone()) {
            return Err(CliError::SameName { name });
        }
        policies.push((name, policy_file::read(path)?));
    }
    Ok(policies)
}

fn name_of(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or(path.as_os_str());
    stem.to_string_lossy().into_owned()
}

async fn pipeline(annals: &Annals, id: &str) -> Result<PipelineId, CliError> {
    let object = annals.resolve(id).await?;
    if object.kind != Kind::ContextPipeline {
        return Err(CliError::View(ViewError::WrongKind {
            id: object.id,
            expected: Kind::ContextPipeline,
            found: object.kind,
        }));
    }
    Ok(PipelineId(object.id))
}

async fn all_pipelines(
    annals: &Annals,
    through: Option<Position>,
) -> Result<Vec<PipelineId>, CliError> {
    let mut pipelines = Vec::new();
    let mut query = ListQuery {
        limit: PAGE,
        ..ListQuery::new(Kind::ContextPipeline)
    };
    query.oldest_first = true;
    loop {
        let listed = annals.list(&query).await?;
        for row in &listed.rows {
            if through.is_none_or(|through| row.first_position <= through) {
                pipelines.push(PipelineId(row.id));
            }
        }
        match listed.next {
            Some(next) => query.after = Some(next),
            None => return Ok(pipelines),
        }
    }
}

/// One pipeline's history, as it was asked for.
struct Asked<'a> {
    pipeline: PipelineId,
    candidates: &'a [Candidate<'a>],
    through: Option<Position>,
    args: &'a Replay,
}

/// A replay with the windows that were asked for.
#[derive(Serialize)]
struct Replayed {
    #[serde(flatten)]
    counts: PipelineReplay,
    #[serde(skip_serializing_if = "Option::is_none")]
    windows: Option<Vec<Box<RawValue>>>,
    /// The same for people.
    #[serde(skip)]
    shown: Vec<String>,
}

/// Several pipelines and their sum.
#[derive(Serialize)]
struct All<'a> {
    total: &'a [PolicyReplay],
    pipelines: &'a [Replayed],
}

impl Asked<'_> {
    async fn replay(&self, annals: &Annals, context: &Context) -> Result<Replayed, CliError> {
        let bar = progress::bar("replaying", None);
        let is_json = context.output.is_json();
        let (mut windows, mut shown) = (Vec::new(), Vec::new());
        let mut last = None;
        let mut show = |window: WindowAt<'_>| {
            if is_json {
                windows.extend(to_raw_value(&window));
                return;
            }
            let moment = (window.position, window.step);
            if last.replace(moment) != Some(moment) {
                shown.push(at(&window));
            }
            shown.push(line(&window));
        };
        let mut advance = |done, of| {
            bar.set_length(of);
            bar.set_position(done);
        };
        let options = ReplayOptions {
            through: self.through,
            optimum: self.args.optimum,
            windows: if self.args.windows {
                Some(&mut show)
            } else {
                None
            },
            progress: Some(&mut advance),
        };
        let counts = annals.replay(self.pipeline, self.candidates, options).await;
        bar.finish_and_clear();
        Ok(Replayed {
            counts: counts?,
            windows: (self.args.windows && is_json).then_some(windows),
            shown,
        })
    }
}

/// Where a window is shown.
fn at(window: &WindowAt<'_>) -> String {
    match window.step {
        Some((plan, step)) => format!(
            "event {}, step {step} of plan {}",
            window.position,
            short(plan.0)
        ),
        None => format!("the end, event {}", window.position),
    }
}

/// A window in one line.
fn line(window: &WindowAt<'_>) -> String {
    let summarised = match window.summarised.is_empty() {
        true => String::new(),
        false => format!("  summarised {}", numbers(&window.summarised)),
    };
    let ids: Vec<String> = window.missed.iter().map(ToString::to_string).collect();
    let missed = match ids.is_empty() {
        true => String::new(),
        false => format!("  MISSED {}", ids.join(", ")),
    };
    let frames = numbers(&window.frames);
    format!("  {}: {frames}{summarised}{missed}", window.policy)
}

fn report(args: &Replay, replayed: &[Replayed], output: &mut Output) -> Result<(), CliError> {
    let counts: Vec<PipelineReplay> = replayed.iter().map(|one| one.counts.clone()).collect();
    if output.is_json() {
        return report_json(args, replayed, &counts, output);
    }
    let Some(total) = PipelineReplay::total(&counts) else {
        return output.line("there is no pipeline in this log");
    };
    for one in replayed {
        if args.all && !args.windows {
            break;
        }
        head(&one.counts, output)?;
        table(&one.counts.policies, args.optimum, output)?;
        one.shown.iter().try_for_each(|line| output.line(line))?;
        if args.all {
            output.line("")?;
        }
    }
    if args.all {
        let pushes = counts.iter().map(|one| one.pushes).sum();
        let uses = counts.iter().map(|one| one.uses).sum();
        let inferred: u64 = counts.iter().map(|one| one.inferred_uses).sum();
        let title = format!(
            "{}: {}, {}{}",
            counted(counts.len() as u64, "pipeline", "pipelines"),
            counted(pushes, "frame pushed", "frames pushed"),
            counted(uses, "use", "uses"),
            of_them_inferred(inferred)
        );
        output.line(&output.style(Style::Bold, &title))?;
        table(&total, args.optimum, output)?;
    }
    remarks(args, &counts, &total, output)
}

fn report_json(
    args: &Replay,
    replayed: &[Replayed],
    counts: &[PipelineReplay],
    output: &mut Output,
) -> Result<(), CliError> {
    if !args.all {
        return replayed.first().map_or(Ok(()), |one| output.json(one));
    }
    let total = PipelineReplay::total(counts).unwrap_or_default();
    output.json(&All {
        total: &total,
        pipelines: replayed,
    })
}

fn head(one: &PipelineReplay, output: &mut Output) -> Result<(), CliError> {
    let title = format!(
        "pipeline {}: {}, {}{}, events {} to {}",
        short(one.pipeline.0),
        counted(one.pushes, "frame pushed", "frames pushed"),
        counted(one.uses, "use", "uses"),
        of_them_inferred(one.inferred_uses),
        one.first_position,
        one.last_position
    );
    output.line(&output.style(Style::Bold, &title))
}

fn of_them_inferred(inferred: u64) -> String {
    match inferred {
        0 => String::new(),
        n => format!(" ({n} inferred)"),
    }
}

fn table(policies: &[PolicyReplay], optimum: bool, output: &mut Output) -> Result<(), CliError> {
    let row = |policy: &PolicyReplay| {
        let held = &policy.frames;
        let tokens = &policy.tokens;
        [
            policy.name.clone(),
            held.peak.to_string(),
            format!("{:.1}", held.mean),
            held.end.to_string(),
            tokens.peak.to_string(),
            format!("{:.0}", tokens.mean),
            tokens.end.to_string(),
            policy.evictions.to_string(),
            missed(policy.misses, policy.uses),
        ]
    };
    let columns = [
        Column::left("POLICY", 10),
        Column::right("FRAMES: PEAK", 6),
        Column::right("MEAN", 6),
        Column::right("END", 6),
        Column::right("TOKENS: PEAK", 6),
        Column::right("MEAN", 6),
        Column::right("END", 6),
        Column::right("EVICTED", 7),
        Column::right("MISSED", 6),
    ];
    if !optimum {
        return Rows::new(columns).print(output, policies.iter().map(row));
    }
    let [a, b, c, d, e, f, g, h, i] = columns;
    let measured = [Column::right("OPTIMUM", 7), Column::right("ABOVE IT", 8)];
    let [j, k] = measured;
    let mut rows = Rows::new([a, b, c, d, e, f, g, h, i, j, k]);
    let row = |policy: &PolicyReplay| {
        let [a, b, c, d, e, f, g, h, i] = row(policy);
        let (best, above) = measure(policy);
        [a, b, c, d, e, f, g, h, i, best, above]
    };
    rows.print(output, policies.iter().map(row))
}

fn missed(misses: u64, uses: u64) -> String {
    match uses {
        0 => misses.to_string(),
        uses => format!("{misses} ({:.1} %)", misses as f64 * 100.0 / uses as f64),
    }
}

/// The optimum of a policy's budget, and how far above it the policy is.
fn measure(policy: &PolicyReplay) -> (String, String) {
    let above = |best: u64| {
        let above = i128::from(policy.misses) - i128::from(best);
        if above > 0 {
            format!("+{above}")
        } else {
            above.to_string()
        }
    };
    match &policy.optimum {
        Some(Yardstick::Exact { misses }) => (misses.to_string(), above(*misses)),
        Some(Yardstick::Heuristic { misses }) => (format!("~{misses}"), above(*misses)),
        Some(Yardstick::None { .. }) | None => ("-".to_owned(), "-".to_owned()),
    }
}

/// What the table cannot say.
fn remarks(
    args: &Replay,
    counts: &[PipelineReplay],
    total: &[PolicyReplay],
    output: &Output,
) -> Result<(), CliError> {
    let sum = |of: fn(&PipelineReplay) -> u64| counts.iter().map(of).sum::<u64>();
    let without = sum(|one| one.frames_without_estimate);
    if without > 0 {
        output.note(&format!(
            "{} no token estimate and count for no token",
            counted(without, "frame has", "frames have")
        ));
    }
    let unknown = sum(|one| one.unknown_uses);
    if unknown > 0 {
        output.note(&format!(
            "{} of frames that had gone before their pipeline was adopted; they are not counted",
            counted(unknown, "use is", "uses are")
        ));
    }
    for policy in total.iter().filter(|policy| policy.pushes_over_limit > 0) {
        output.note(&format!(
            "{} left the window over its limit after {}: all that was left was protected",
            policy.name,
            counted(policy.pushes_over_limit, "push", "pushes")
        ));
    }
    for policy in total {
        if let Some(Yardstick::None { reason }) = &policy.optimum {
            output.note(&format!("{} has no optimum: {reason}", policy.name));
        }
    }
    if sum(|one| one.uses) == 0 {
        output.note("no step of a plan used a frame, so that nothing could be missed");
    }
    if args.policies.is_empty() {
        output.note("try other policies with --policy FILE; `annals policies` describes them");
    }
    Ok(())
}
