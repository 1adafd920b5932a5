//! `annals diff SESSION`: the turns that a session gained between two positions, and the files that they changed.

use std::collections::{BTreeMap, HashMap, HashSet};

use annals::event_log::Position;
use annals::projections::{Diffs, Folding, LineWriter, TextLine, Turn, TurnBody};
use annals::{Annals, At, SessionError, TurnRange};
use serde_json::{Value, json};
use uuid::Uuid;

use super::show_session::diffs::{counts, edits};
use super::show_session::walk::{Step, Walk};
use super::show_session::{print_lines, session_json, sub_agent_line, title};
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::output::{Output, Style, counted, when};

/// What a session gained.
#[derive(Default)]
struct SessionGrowth {
    parts: Vec<Part>,
    added: Vec<u64>,
    changed: Vec<u64>,
    /// Lines added and deleted, by file.
    files: BTreeMap<String, (u64, u64)>,
}

/// A turn of the session, or new turns of a sub-agent's session.
enum Part {
    Turn(Box<Turn>),
    SubAgent { session: Uuid, turns: u64 },
}

/// Prints the difference of a session's conversation.
pub(super) async fn run(
    annals: &Annals,
    session: Uuid,
    (from, to): (At, At),
    context: &mut Context,
) -> Result<(), CliError> {
    let ends = (
        annals.past().position_of(from).await?,
        annals.past().position_of(to).await?,
    );
    if let (Some(from), Some(to)) = ends
        && from > to
    {
        let message = format!("invalid range: event {from} is behind event {to}");
        let error = CliError::new(ErrorClass::Usage, "usage", message);
        return Err(error.hint("give the earlier position first"));
    }
    let before = turns_at(annals, session, from).await?;
    let mut walk = Walk::begin(annals, session, to, TurnRange::all()).await?;
    let growth = SessionGrowth::between(&before, &mut walk).await?;
    if context.output.is_json() {
        return context.output.json(&growth.to_json(&walk, ends)?);
    }
    growth.print(&walk, ends, &mut context.output)
}

/// The turns of a session and its sub-agents by their positions; none if it had not begun.
async fn turns_at(
    annals: &Annals,
    session: Uuid,
    at: At,
) -> Result<HashMap<Position, Turn>, CliError> {
    let mut walk = match Walk::begin(annals, session, at, TurnRange::all()).await {
        Ok(walk) => walk,
        Err(error) if is_not_yet(&error) => return Ok(HashMap::new()),
        Err(error) => return Err(error),
    };
    let mut turns = HashMap::new();
    while let Some(step) = walk.next().await? {
        if let Step::Turn(turn) = step {
            turns.insert(turn.position, turn);
        }
    }
    Ok(turns)
}

fn is_not_yet(error: &CliError) -> bool {
    matches!(
        error.cause::<SessionError>(),
        Some(SessionError::NotYet { .. })
    )
}

impl SessionGrowth {
    async fn between(
        before: &HashMap<Position, Turn>,
        walk: &mut Walk<'_>,
    ) -> Result<SessionGrowth, CliError> {
        let mut growth = SessionGrowth::default();
        while let Some(step) = walk.next().await? {
            match step {
                Step::SubAgent { session, .. } if walk.depth() == 1 => {
                    growth.parts.push(Part::SubAgent { session, turns: 0 });
                }
                Step::Turn(turn) => growth.turn(turn, before, walk.depth()),
                Step::SubAgent { .. } | Step::End => {}
            }
        }
        growth.parts.retain(|part| match part {
            Part::Turn(_) => true,
            Part::SubAgent { turns, .. } => *turns > 0,
        });
        Ok(growth)
    }

    fn turn(&mut self, turn: Turn, before: &HashMap<Position, Turn>, depth: usize) {
        let known = before.get(&turn.position);
        if known.is_some_and(|known| known.body == turn.body) {
            return;
        }
        let patch_sets: HashSet<Uuid> = known
            .into_iter()
            .flat_map(edits)
            .map(|edit| edit.patch_set)
            .collect();
        for edit in edits(&turn).filter(|edit| !patch_sets.contains(&edit.patch_set)) {
            let sums = self.files.entry(edit.path.to_string()).or_default();
            sums.0 += u64::from(edit.added);
            sums.1 += u64::from(edit.deleted);
        }
        if depth > 0 {
            if let Some(Part::SubAgent { turns, .. }) = self.parts.last_mut() {
                *turns += 1;
            }
            return;
        }
        match known {
            Some(_) => self.changed.push(turn.number),
            None => self.added.push(turn.number),
        }
        self.parts.push(Part::Turn(Box::new(turn)));
    }

    fn to_json(
        &self,
        walk: &Walk<'_>,
        (from, to): (Option<Position>, Option<Position>),
    ) -> Result<Value, CliError> {
        let turns = self.parts.iter().filter_map(|part| match part {
            Part::Turn(turn) => Some(turn),
            Part::SubAgent { .. } => None,
        });
        let turns: Vec<&Box<Turn>> = turns.collect();
        let file = |(path, (added, deleted)): (&String, &(u64, u64))| json!({ "path": path, "added": added, "deleted": deleted });
        Ok(json!({
            "session": session_json(walk.top())?,
            "from": from.map(|from| from.0),
            "to": to.map(|to| to.0),
            "added": self.added,
            "changed": self.changed,
            "turns": turns,
            "files": self.files.iter().map(file).collect::<Vec<_>>(),
        }))
    }

    fn print(
        &self,
        walk: &Walk<'_>,
        (from, to): (Option<Position>, Option<Position>),
        output: &mut Output,
    ) -> Result<(), CliError> {
        if self.parts.is_empty() {
            output.note("the conversation has no new turn between the two positions");
            return Ok(());
        }
        let name = output.style(Style::Bold, &title(walk.summary()));
        output.line(&name)?;
        let at = |at: Option<Position>| {
            at.map_or_else(|| "a time by the callers' clocks".to_owned(), event)
        };
        let (added, deleted) = self
            .files
            .values()
            .fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        let files = counted(self.files.len() as u64, "file", "files");
        output.fields(&[
            ("from", at(from)),
            ("to", at(to)),
            ("turns", self.turns_in_words()),
            ("files", format!("{files} changed, +{added} -{deleted}")),
        ])?;
        output.line("")?;
        self.print_parts(walk, output)?;
        for (path, (added, deleted)) in &self.files {
            let counts = counts(*added, *deleted, output);
            let path = output.style(Style::Bold, path);
            output.line(&format!("{path}  {counts}"))?;
        }
        Ok(())
    }

    fn turns_in_words(&self) -> String {
        let mut parts = Vec::new();
        for (numbers, word) in [(&self.added, "added"), (&self.changed, "changed")] {
            let range = match (numbers.first(), numbers.last()) {
                (Some(first), Some(last)) if first == last => format!(" ({first})"),
                (Some(first), Some(last)) => format!(" ({first} to {last})"),
                _ => continue,
            };
            parts.push(format!("{} {word}{range}", numbers.len()));
        }
        match parts.is_empty() {
            true => "none of its own, see its sub-agents".to_owned(),
            false => parts.join(", "),
        }
    }

    fn print_parts(&self, walk: &Walk<'_>, output: &mut Output) -> Result<(), CliError> {
        let mut writer = LineWriter::new(Folding::Folded, when);
        let mut lines: Vec<TextLine> = Vec::new();
        for part in &self.parts {
            match part {
                // The line of the session follows.
                Part::Turn(turn) if matches!(turn.body, TurnBody::SubAgent { .. }) => {}
                Part::Turn(turn) => writer.turn(turn, &Diffs::new(), &mut lines),
                Part::SubAgent { session, .. } => {
                    writer.finish(&mut lines);
                    lines.push(writer.sub_agent(&sub_agent_line(walk.listed(*session))));
                }
            }
            print_lines(&mut lines, output)?;
        }
        writer.finish(&mut lines);
        lines.push(TextLine::default());
        print_lines(&mut lines, output)
    }
}

fn event(position: Position) -> String {
    format!("event {position}")
}
