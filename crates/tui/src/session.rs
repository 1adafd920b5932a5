//! A session's conversation, turn by turn.

use std::collections::HashSet;

use annals::projections::{Diffs, Emphasis, Folding, LineWriter, TextLine, Turn, TurnBody};
use annals::{Annals, At, SessionListed, TurnRange};
use annals_terminal::{Part, cut_parts, wrap};
use uuid::Uuid;

use crate::cursor::Cursor;
use crate::error::ScreenError;
use crate::text::{safe, when};

/// Columns of a row before the terminal's width is known.
const WIDTH: usize = 100;
/// The least columns of a text.
const LEAST: usize = 10;
/// Columns of wrapped prose, however wide the terminal is.
const WIDEST: usize = 120;

/// A row of the terminal.
#[derive(Debug, Clone)]
pub(crate) struct SessionRow {
    turns: (u64, u64),
    pub(crate) indent: usize,
    pub(crate) parts: Vec<Part<Emphasis>>,
}

impl SessionRow {
    /// The row as it is searched.
    pub(crate) fn line(&self) -> String {
        self.parts.iter().map(|(text, _)| text.as_str()).collect()
    }
}

/// A session's screen.
#[derive(Debug)]
pub(crate) struct SessionScreen {
    pub(crate) id: Uuid,
    pub(crate) title: String,
    /// Project, agent, status and counts, on one line.
    pub(crate) facts: String,
    turns: Vec<Turn>,
    /// The turns that are open.
    open: HashSet<u64>,
    /// The diffs of open turns.
    diffs: Diffs,
    lines: Vec<TextLine>,
    pub(crate) rows: Vec<SessionRow>,
    width: usize,
    pub(crate) cursor: Cursor,
    last_position: u64,
}

/// What happens when a row is opened.
pub(crate) enum Opened {
    /// The row's turns are open, or folded again.
    Here,
    /// The screen of a sub-agent's session is to be opened.
    SubAgent(Uuid),
}

impl SessionScreen {
    pub(crate) async fn read(annals: &Annals, id: Uuid) -> Result<SessionScreen, ScreenError> {
        let mut screen = SessionScreen {
            id,
            title: String::new(),
            facts: String::new(),
            turns: Vec::new(),
            open: HashSet::new(),
            diffs: Diffs::new(),
            lines: Vec::new(),
            rows: Vec::new(),
            width: WIDTH,
            cursor: Cursor::default(),
            last_position: 0,
        };
        screen.refresh(annals, false).await?;
        Ok(screen)
    }

    /// Reads the conversation again if it grew. If it is followed, the cursor moves to its end.
    pub(crate) async fn refresh(
        &mut self,
        annals: &Annals,
        follows: bool,
    ) -> Result<(), ScreenError> {
        let family = annals.conversations().family(self.id, At::Now).await?;
        let listed = family.session;
        if listed.summary.last_position == self.last_position {
            return Ok(());
        }
        self.turns = annals
            .conversation(self.id, At::Now, TurnRange::all())
            .await?
            .turns;
        self.last_position = listed.summary.last_position;
        self.title = safe(
            listed
                .summary
                .title
                .as_deref()
                .unwrap_or("untitled session"),
        );
        self.facts = safe(&facts(&listed));
        self.draw_lines();
        if follows {
            self.cursor.put(usize::MAX, self.rows.len());
        }
        Ok(())
    }

    /// Opens the turns of the row under the cursor, or folds them. A row of a sub-agent leads to its session.
    pub(crate) async fn toggle(&mut self, annals: &Annals) -> Result<Opened, ScreenError> {
        let Some(row) = self.rows.get(self.cursor.at) else {
            return Ok(Opened::Here);
        };
        let (first, last) = row.turns;
        let turns = self
            .turns
            .iter()
            .filter(|turn| (first..=last).contains(&turn.number));
        let turns: Vec<&Turn> = turns.collect();
        if let Some(session) = turns.iter().find_map(|turn| sub_agent(turn)) {
            return Ok(Opened::SubAgent(session));
        }
        let digests = turns.iter().flat_map(|turn| match &turn.body {
            TurnBody::ToolCall(call) => call.edits.iter().filter_map(|edit| edit.diff).collect(),
            _ => Vec::new(),
        });
        for digest in digests {
            if let Some(bytes) = annals.conversations().diff(digest).await? {
                self.diffs
                    .insert(digest, String::from_utf8_lossy(&bytes).into_owned());
            }
        }
        let is_open = self.open.contains(&first);
        for number in turns.iter().map(|turn| turn.number) {
            match is_open {
                true => self.open.remove(&number),
                false => self.open.insert(number),
            };
        }
        self.draw_lines();
        let at = self.rows.iter().position(|row| row.turns.0 >= first);
        self.cursor.put(at.unwrap_or(0), self.rows.len());
        Ok(Opened::Here)
    }

    /// Fits the rows to the width of the terminal.
    pub(crate) fn fit(&mut self, width: usize) {
        if width != self.width {
            self.width = width;
            self.wrap();
        }
    }

    fn draw_lines(&mut self) {
        let mut writer = LineWriter::new(Folding::Folded, when);
        self.lines.clear();
        for turn in &self.turns {
            let folding = match self.open.contains(&turn.number) {
                true => Folding::Open,
                false => Folding::Folded,
            };
            writer.set_folding(folding);
            writer.turn(turn, &self.diffs, &mut self.lines);
        }
        writer.finish(&mut self.lines);
        self.wrap();
    }

    fn wrap(&mut self) {
        self.rows.clear();
        for line in &self.lines {
            let room = self.width.saturating_sub(line.indent).max(LEAST);
            let parts = line
                .spans
                .iter()
                .map(|span| (span.text.as_str(), span.emphasis));
            let wrapped = match line.is_cut || line.is_code {
                true => vec![cut_parts(parts, room)],
                false => wrap(parts, room.min(WIDEST), line.hanging),
            };
            let row = |parts| SessionRow {
                turns: (line.turn, line.last_turn),
                indent: line.indent,
                parts,
            };
            self.rows.extend(wrapped.into_iter().map(row));
        }
        let at = self.cursor.at;
        self.cursor.put(at, self.rows.len());
    }
}

fn sub_agent(turn: &Turn) -> Option<Uuid> {
    match &turn.body {
        TurnBody::ToolCall(call) => call.sub_agent,
        TurnBody::SubAgent { session, .. } => Some(*session),
        _ => None,
    }
}

fn facts(listed: &SessionListed) -> String {
    let session = &listed.summary;
    let counts = format!(
        "{} prompts, {} tool calls, {} files +{} -{}",
        session.counts.prompts,
        session.counts.tool_calls,
        session.files.files,
        session.files.added,
        session.files.deleted
    );
    let parts = [
        session.project_name().map(str::to_owned),
        session.branch.clone(),
        session.agent.clone(),
        Some(status(listed).to_owned()),
        Some(counts),
        cost(listed),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// The word for what a session does.
pub(crate) fn status(listed: &SessionListed) -> &'static str {
    use annals::projections::SessionActivity as Activity;
    match listed.activity {
        Activity::Active => "active",
        Activity::Waiting => "waiting",
        Activity::Ended => "ended",
        Activity::Failed => "failed",
        Activity::Idle => "idle",
    }
}

/// The cost with sub-agents.
pub(crate) fn cost(listed: &SessionListed) -> Option<String> {
    match listed.cost.is_known {
        true => Some(annals::projections::amount_of_money(
            listed.cost.micros,
            "USD",
        )),
        false => Some("cost unknown".to_owned()),
    }
}
