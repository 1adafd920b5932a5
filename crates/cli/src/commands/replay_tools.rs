//! `annals policy replay --tools`: recorded tool calls under other policies.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use annals::projections::tool_calls::RecordedCall;
use annals_tool_policy::{Judgement, Policies, Verdict};
use serde::Serialize;

use super::recorded_calls::{self, Since};
use crate::cli::Replay;
use crate::context::{Context, through};
use crate::error::CliError;
use crate::output::{Column, Output, Rows, Style, counted, short};
use crate::tool_policy_file;

/// What policies make of the recorded calls.
#[derive(Debug, Default, Serialize)]
struct Replayed {
    /// The calls that were looked at.
    calls: u64,
    /// Those that were judged.
    judged: u64,
    /// Those that cannot be: something of them was removed.
    unknown: u64,
    /// The verdicts that were recorded; what ran was allowed.
    recorded: Verdicts,
    /// And those of the policies.
    under_policies: Verdicts,
    /// How many verdicts flip, by what and to what, and by which rule.
    flips: Vec<FlipCount>,
    /// The same of each tool.
    tools: Vec<ToolCount>,
    /// Each call whose verdict flips.
    flipped: Vec<Flip>,
}

#[derive(Debug, Default, Clone, Serialize)]
struct Verdicts {
    allow: u64,
    ask: u64,
    deny: u64,
}

#[derive(Debug, Serialize)]
struct FlipCount {
    from: Verdict,
    to: Verdict,
    /// The rule that decides; none: no rule does.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    count: u64,
}

#[derive(Debug, Serialize)]
struct ToolCount {
    tool: String,
    calls: u64,
    flipped: u64,
    under_policies: Verdicts,
}

#[derive(Debug, Serialize)]
struct Flip {
    position: u64,
    call: String,
    run: String,
    tool: String,
    from: Verdict,
    to: Verdict,
    rules: Vec<String>,
    reason: String,
}

impl Verdicts {
    fn add(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Allow => self.allow += 1,
            Verdict::Ask => self.ask += 1,
            Verdict::Deny => self.deny += 1,
        }
    }

    fn of(&self, verdict: Verdict) -> u64 {
        match verdict {
            Verdict::Allow => self.allow,
            Verdict::Ask => self.ask,
            Verdict::Deny => self.deny,
        }
    }
}

pub(crate) async fn run(args: &Replay, context: &mut Context) -> Result<(), CliError> {
    let policies = tool_policy_file::read(&args.policies)?;
    let annals = context.reader_at(&args.floor).await?;
    let through = through(&annals, args.at.as_ref()).await?;
    let since = Since {
        since: args.since,
        through,
    };
    let calls = recorded_calls::read(&annals, since).await?;
    let replayed = replay(&policies, &calls, args.workspace.as_deref());
    match context.output.is_json() {
        true => context.output.json(&replayed),
        false => print(&replayed, args.limit, &mut context.output),
    }
}

/// What is the same in calls that are judged alike.
type Alike<'a> = (
    &'a str,
    Option<&'a str>,
    Option<&'a str>,
    Option<&'a str>,
    Option<&'a str>,
    Option<&'a str>,
    &'a str,
);

/// Agents do the same again and again: each call that differs is judged once.
fn alike(recorded: &RecordedCall) -> Alike<'_> {
    (
        recorded.actor.as_str(),
        recorded.tool.as_deref(),
        recorded.args.as_deref(),
        recorded.cwd.as_deref(),
        recorded.branch.as_deref(),
        recorded.mode.as_deref(),
        recorded.session.as_deref().unwrap_or_default(),
    )
}

fn replay(policies: &Policies, calls: &[RecordedCall], workspace: Option<&str>) -> Replayed {
    let mut numbers: HashMap<Alike<'_>, usize> = HashMap::new();
    let mut different: Vec<&RecordedCall> = Vec::new();
    let mut number_of = Vec::with_capacity(calls.len());
    for recorded in calls {
        let number = *numbers.entry(alike(recorded)).or_insert_with(|| {
            different.push(recorded);
            different.len() - 1
        });
        number_of.push(number);
    }
    let judged = judge(policies, &different, workspace);
    let mut count = Count::default();
    for (recorded, number) in calls.iter().zip(number_of) {
        count.add(recorded, judged.get(number).and_then(Option::as_ref));
    }
    count.finish()
}

/// Judges calls on all processors. None: one that cannot be judged.
fn judge(
    policies: &Policies,
    calls: &[&RecordedCall],
    workspace: Option<&str>,
) -> Vec<Option<Arc<Judgement>>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = calls.len().div_ceil(threads).max(1);
    let judge = |recorded: &&RecordedCall| {
        let call = recorded_calls::call(recorded, workspace)?;
        Some(Arc::new(policies.judge(&call)))
    };
    std::thread::scope(|scope| {
        let begun: Vec<_> = calls
            .chunks(share)
            .map(|part| {
                (
                    part,
                    scope.spawn(move || part.iter().map(judge).collect::<Vec<_>>()),
                )
            })
            .collect();
        let ended = begun.into_iter().flat_map(|(part, thread)| {
            // Judging does not panic; if it did, it would be said here again.
            thread
                .join()
                .unwrap_or_else(|_| part.iter().map(judge).collect())
        });
        ended.collect()
    })
}

#[derive(Default)]
struct Count {
    replayed: Replayed,
    flips: BTreeMap<(Verdict, Verdict, Option<String>), u64>,
    tools: BTreeMap<String, ToolCount>,
}

impl Count {
    fn add(&mut self, recorded: &RecordedCall, judged: Option<&Arc<Judgement>>) {
        self.replayed.calls += 1;
        let (Some(judged), Some(tool)) = (judged, &recorded.tool) else {
            self.replayed.unknown += 1;
            return;
        };
        let (from, to) = (recorded_calls::verdict(recorded), judged.verdict);
        self.replayed.judged += 1;
        self.replayed.recorded.add(from);
        self.replayed.under_policies.add(to);
        let count = self.tools.entry(tool.clone()).or_insert_with(|| ToolCount {
            tool: tool.clone(),
            calls: 0,
            flipped: 0,
            under_policies: Verdicts::default(),
        });
        count.calls += 1;
        count.under_policies.add(to);
        if from == to {
            return;
        }
        count.flipped += 1;
        let rule = judged.rule().map(|rule| rule.id.clone());
        *self.flips.entry((from, to, rule)).or_default() += 1;
        self.replayed.flipped.push(Flip {
            position: recorded.position.0,
            call: recorded.id.to_string(),
            run: recorded.run.to_string(),
            tool: tool.clone(),
            from,
            to,
            rules: judged.rules.iter().map(|rule| rule.id.clone()).collect(),
            reason: judged.reason.clone(),
        });
    }

    fn finish(self) -> Replayed {
        let mut replayed = self.replayed;
        let flips = self.flips.into_iter();
        let flip = |((from, to, rule), count)| FlipCount {
            from,
            to,
            rule,
            count,
        };
        replayed.flips = flips.map(flip).collect();
        replayed
            .flips
            .sort_by_key(|flip| std::cmp::Reverse(flip.count));
        replayed.tools = self.tools.into_values().collect();
        replayed
            .tools
            .sort_by_key(|tool| std::cmp::Reverse(tool.calls));
        replayed
    }
}

fn print(replayed: &Replayed, limit: usize, output: &mut Output) -> Result<(), CliError> {
    let title = format!(
        "{}, {} judged, {} flipped",
        counted(replayed.calls, "tool call", "tool calls"),
        replayed.judged,
        replayed.flipped.len(),
    );
    output.line(&output.style(Style::Bold, &title))?;
    let mut rows = Rows::new([
        Column::left("VERDICT", 8),
        Column::right("RECORDED", 8),
        Column::right("UNDER POLICIES", 14),
    ]);
    let row = |verdict: Verdict| {
        let of = |verdicts: &Verdicts| verdicts.of(verdict).to_string();
        [
            verdict.to_string(),
            of(&replayed.recorded),
            of(&replayed.under_policies),
        ]
    };
    rows.print(output, Verdict::ALL.into_iter().map(row))?;
    flips(replayed, output)?;
    tools(replayed, output)?;
    flipped(&replayed.flipped, limit, output)?;
    if replayed.unknown > 0 {
        let unknown = counted(replayed.unknown, "call", "calls");
        output.note(&format!(
            "{unknown} cannot be judged: their names or arguments were removed, or are no JSON"
        ));
    }
    Ok(())
}

fn flips(replayed: &Replayed, output: &mut Output) -> Result<(), CliError> {
    if replayed.flips.is_empty() {
        return output.line("nothing flips");
    }
    let mut rows = Rows::new([
        Column::right("FLIPS", 6),
        Column::left("FROM", 6),
        Column::left("TO", 6),
        Column::left("BY", 10),
    ]);
    let row = |flip: &FlipCount| {
        [
            flip.count.to_string(),
            flip.from.to_string(),
            flip.to.to_string(),
            flip.rule.clone().unwrap_or_else(|| "-".to_owned()),
        ]
    };
    rows.print(output, replayed.flips.iter().map(row))
}

fn tools(replayed: &Replayed, output: &mut Output) -> Result<(), CliError> {
    let mut rows = Rows::new([
        Column::left("TOOL", 16),
        Column::right("CALLS", 6),
        Column::right("ALLOWED", 7),
        Column::right("ASKED", 6),
        Column::right("DENIED", 6),
        Column::right("FLIPPED", 7),
    ]);
    let row = |count: &ToolCount| {
        let of = |verdict| count.under_policies.of(verdict).to_string();
        [
            count.tool.clone(),
            count.calls.to_string(),
            of(Verdict::Allow),
            of(Verdict::Ask),
            of(Verdict::Deny),
            count.flipped.to_string(),
        ]
    };
    rows.print(output, replayed.tools.iter().map(row))
}

fn flipped(flips: &[Flip], limit: usize, output: &mut Output) -> Result<(), CliError> {
    if flips.is_empty() || limit == 0 {
        return Ok(());
    }
    let mut rows = Rows::new([
        Column::right("POSITION", 8),
        Column::left("CALL", 8),
        Column::left("TOOL", 10),
        Column::left("RECORDED", 8),
        Column::left("WHY", 20),
    ]);
    let row = |flip: &Flip| {
        let id = flip.call.parse().map(short).unwrap_or_default();
        [
            flip.position.to_string(),
            id,
            flip.tool.clone(),
            flip.from.to_string(),
            flip.reason.clone(),
        ]
    };
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
