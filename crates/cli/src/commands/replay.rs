//! `annals policy replay`: recorded histories under other policies.

use std::collections::BTreeSet;
use std::io::{BufWriter, Stdout, Write};
use std::path::Path;

use annals::Annals;
use annals::domain::pipeline::EvictionPolicy;
use annals::domain::{Kind, PipelineId, PlanId};
use annals::event_log::Position;
use annals::projections::ListQuery;
use annals::projections::replay::{
    Candidate, PipelineReplay, PolicyReplay, ReplayOptions, WindowAt, Yardstick,
};

use super::named::of_kind;
use super::window::numbers;
use crate::cli::Replay;
use crate::context::{Context, through};
use crate::error::{CliError, ErrorClass};
use crate::output::{Column, Output, Rows, Style, counted, short};
use crate::policy_file;
use crate::progress;

/// Pipelines that are listed at once.
const PAGE: usize = 1_000;

pub(crate) async fn run(args: &Replay, context: &mut Context) -> Result<(), CliError> {
    let policies = read_policies(args)?;
    let annals = context.reader_at(&args.floor).await?;
    let through = through(&annals, args.at.as_ref()).await?;
    let pipelines = match &args.pipeline {
        Some(id) => vec![pipeline(&annals, id).await?],
        None => all_pipelines(&annals, through).await?,
    };
    let candidates: Vec<Candidate<'_>> = policies
        .iter()
        .map(|(name, policy)| Candidate::policy(name.as_str(), policy.clone()))
        .collect();
    let mut replayed = Vec::new();
    begin(args, &mut context.output)?;
    for (index, pipeline) in pipelines.into_iter().enumerate() {
        let one = Asked {
            pipeline,
            candidates: &candidates,
            through,
            args,
        };
        let counts = one.replay(index, &annals, &mut context.output).await?;
        one_done(args, &counts, &mut context.output)?;
        replayed.push(counts);
    }
    end(args, &replayed, &mut context.output)
}

/// The candidates, each by the name of its file.
fn read_policies(args: &Replay) -> Result<Vec<(String, EvictionPolicy)>, CliError> {
    let mut names = BTreeSet::new();
    let mut policies = Vec::new();
    for path in &args.policies {
        let name = name_of(path);
        if name == "recorded" {
            let message = format!("{} has the name of what was recorded", path.display());
            return Err(
                CliError::new(ErrorClass::Invalid, "same_name", message).hint("rename the file")
            );
        }
        if !names.insert(name.clone()) {
            let message = format!("two policies are called {name:?}");
            return Err(CliError::new(ErrorClass::Invalid, "same_name", message)
                .hint("rename one of the files"));
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
    of_kind(object, Kind::ContextPipeline).map(PipelineId)
}

async fn all_pipelines(
    annals: &Annals,
    through: Option<Position>,
) -> Result<Vec<PipelineId>, CliError> {
    let mut pipelines = Vec::new();
    let mut query = ListQuery::new(Kind::ContextPipeline)
        .with_limit(PAGE)
        .with_oldest_first(true);
    loop {
        let listed = annals.index().list(&query).await?;
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

/// One pipeline's history, as it was requested.
struct Asked<'a> {
    pipeline: PipelineId,
    candidates: &'a [Candidate<'a>],
    through: Option<Position>,
    args: &'a Replay,
}

/// Windows as they come, straight to standard output: there can be very many.
struct Shown {
    out: BufWriter<Stdout>,
    json: bool,
    /// The moment of the last one, and how many there were.
    last: Option<(Position, Option<(PlanId, u32)>)>,
    count: u64,
    failed: Option<CliError>,
}

impl Shown {
    fn new(json: bool) -> Shown {
        Shown {
            out: BufWriter::new(std::io::stdout()),
            json,
            last: None,
            count: 0,
            failed: None,
        }
    }

    fn show(&mut self, window: &WindowAt<'_>) {
        if self.failed.is_none() {
            self.failed = self.write(window).err();
        }
    }

    fn write(&mut self, window: &WindowAt<'_>) -> Result<(), CliError> {
        self.count += 1;
        if self.json {
            let comma = if self.count > 1 { "," } else { "" };
            let json = serde_json::to_string(window).map_err(CliError::json)?;
            return write!(self.out, "{comma}{}", annals_terminal::json(&json))
                .map_err(CliError::output);
        }
        let moment = (window.position, window.step);
        if self.last.replace(moment) != Some(moment) {
            writeln!(self.out, "{}", at(window)).map_err(CliError::output)?;
        }
        writeln!(self.out, "{}", annals_terminal::line(&line(window))).map_err(CliError::output)
    }

    fn end(mut self) -> Result<(), CliError> {
        match self.failed {
            Some(error) => Err(error),
            None => self.out.flush().map_err(CliError::output),
        }
    }
}

impl Asked<'_> {
    /// Replays, and prints the requested windows on the way.
    async fn replay(
        &self,
        index: usize,
        annals: &Annals,
        output: &mut Output,
    ) -> Result<PipelineReplay, CliError> {
        let bar = progress::bar("replaying", None);
        let json = output.is_json();
        if json && index > 0 {
            output.json_text(",")?;
        }
        match (self.args.windows, json) {
            (true, true) => output.json_text("{\"windows\":[")?,
            (true, false) => {
                let title = format!("windows of pipeline {}", short(self.pipeline.0));
                output.line(&output.style(Style::Bold, &title))?;
            }
            (false, _) => {}
        }
        output.flush()?;
        let mut shown = Shown::new(json);
        let mut show = |window: WindowAt<'_>| shown.show(&window);
        let mut advance = |done, of| {
            bar.set_length(of);
            bar.set_position(done);
        };
        let mut options = ReplayOptions::default()
            .with_through(self.through)
            .with_optimum(self.args.optimum)
            .with_progress(&mut advance);
        if self.args.windows {
            options = options.with_windows(&mut show);
        }
        let counts = annals
            .pipelines()
            .replay(self.pipeline, self.candidates, options)
            .await;
        bar.finish_and_clear();
        shown.end()?;
        Ok(counts?)
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

/// What comes before the first pipeline.
fn begin(args: &Replay, output: &mut Output) -> Result<(), CliError> {
    match output.is_json() && args.all {
        true => output.json_text("{\"pipelines\":["),
        false => Ok(()),
    }
}

/// What one pipeline's counts are, behind its windows.
fn one_done(args: &Replay, counts: &PipelineReplay, output: &mut Output) -> Result<(), CliError> {
    if output.is_json() {
        let json = serde_json::to_string(counts).map_err(CliError::json)?;
        // The object was begun with its windows.
        let rest = json.strip_prefix('{').filter(|_| args.windows);
        return match rest {
            Some(rest) => output.json_text(&format!("],{rest}")),
            None => output.json_text(&json),
        };
    }
    if args.all && !args.windows {
        return Ok(());
    }
    head(counts, output)?;
    table(&counts.policies, args.optimum, output)?;
    match args.all {
        true => output.line(""),
        false => Ok(()),
    }
}

/// What comes behind the last pipeline.
fn end(args: &Replay, replayed: &[PipelineReplay], output: &mut Output) -> Result<(), CliError> {
    let total = PipelineReplay::total(replayed);
    if output.is_json() {
        if args.all {
            let total = total.unwrap_or_default();
            let total = serde_json::to_string(&total).map_err(CliError::json)?;
            output.json_text(&format!("],\"total\":{total}}}"))?;
        }
        return output.line("");
    }
    let Some(total) = total else {
        return output.line("there is no pipeline in this log");
    };
    if args.all {
        let sum = |of: fn(&PipelineReplay) -> u64| replayed.iter().map(of).sum::<u64>();
        let title = format!(
            "{}: {}, {}{}",
            counted(replayed.len() as u64, "pipeline", "pipelines"),
            counted(sum(|one| one.pushes), "frame pushed", "frames pushed"),
            counted(sum(|one| one.uses), "use", "uses"),
            of_them_inferred(sum(|one| one.inferred_uses))
        );
        output.line(&output.style(Style::Bold, &title))?;
        table(&total, args.optimum, output)?;
    }
    remarks(args, replayed, &total, output)
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
    let above = match policy.above_optimum {
        Some(above) if above > 0 => format!("+{above}"),
        Some(above) => above.to_string(),
        None => "-".to_owned(),
    };
    let best = match &policy.optimum {
        Some(Yardstick::Exact { misses }) => misses.to_string(),
        Some(Yardstick::Heuristic { misses }) => format!("~{misses}"),
        Some(Yardstick::None { .. }) | None => "-".to_owned(),
    };
    (best, above)
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
            "no token estimate, which counts for no token: {}",
            counted(without, "frame", "frames")
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
        output.note(
            "try other policies with --policy FILE; `annals policy evictions` describes them",
        );
    }
    Ok(())
}
