//! A session's conversation, turn by turn.

use std::collections::HashSet;

use annals::event_log::Position;
use annals::projections::{Diffs, Emphasis, Folding, LineWriter, TextLine, Turn, TurnBody};
use annals::{Annals, At, SessionError, SessionListed, TurnRange};
use annals_terminal::{Part, cut_parts, wrap};
use uuid::Uuid;

use crate::cursor::Cursor;
use crate::error::ScreenError;
use crate::past::PastPosition;
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
    /// The past position at which it is shown; `None` is the present.
    pub(crate) past: Option<PastPosition>,
    /// The positions of all its turns, by which it is moved through time.
    pub(crate) steps: Vec<Position>,
    /// The number of its turns at present.
    pub(crate) total: usize,
    /// The first position at which it is a session.
    begins: Option<Position>,
    /// The position of its last event.
    last_position: Position,
}

/// What happens when a row is opened.
pub(crate) enum Opened {
    /// The row's turns are open, or folded again.
    Here,
    /// The screen of a sub-agent's session is to be opened.
    SubAgent(Uuid),
}

impl SessionScreen {
    pub(crate) async fn read(
        annals: &Annals,
        id: Uuid,
        past: Option<PastPosition>,
    ) -> Result<SessionScreen, ScreenError> {
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
            past,
            steps: Vec::new(),
            total: 0,
            begins: None,
            last_position: Position(0),
        };
        screen.refresh(annals, false).await?;
        if past.is_some() {
            screen.show(annals, past).await?;
        }
        Ok(screen)
    }

    /// Reads the conversation again if it grew. If it is followed, the cursor moves to its end. A past conversation stays
    /// as it is.
    pub(crate) async fn refresh(
        &mut self,
        annals: &Annals,
        follows: bool,
    ) -> Result<(), ScreenError> {
        let family = annals.conversations().family(self.id, At::Now).await?;
        let summary = &family.session.summary;
        let last = Position(summary.last_position);
        if last == self.last_position {
            return Ok(());
        }
        let begins = match self.begins {
            Some(begins) => begins,
            None => beginning(annals, self.id, Position(summary.first_position), last).await?,
        };
        let all = TurnRange::all();
        let turns = annals.conversation(self.id, At::Now, all).await?.turns;
        self.last_position = last;
        self.begins = Some(begins);
        self.total = turns.len();
        // A prompt can be recorded before the session that it begins.
        let steps = turns.iter().map(|turn| turn.position.max(begins));
        self.steps = steps.collect();
        self.steps.sort_unstable();
        self.steps.dedup();
        if self.past.is_none() {
            self.put(&family.session, turns);
            if follows {
                self.cursor.put(usize::MAX, self.rows.len());
            }
        }
        Ok(())
    }

    /// Shows the conversation as of another position, with the cursor on its newest turn.
    pub(crate) async fn travel(
        &mut self,
        annals: &Annals,
        past: Option<PastPosition>,
    ) -> Result<(), ScreenError> {
        if past == self.past {
            return Ok(());
        }
        self.show(annals, past).await?;
        let last = self.rows.iter().rposition(|row| !row.parts.is_empty());
        self.cursor.put(last.unwrap_or(0), self.rows.len());
        Ok(())
    }

    async fn show(
        &mut self,
        annals: &Annals,
        past: Option<PastPosition>,
    ) -> Result<(), ScreenError> {
        let at = past.map_or(At::Now, |past| At::Position(past.position));
        if let (Some(PastPosition { position, .. }), Some(first)) = (past, self.begins)
            && position < first
        {
            return Err(ScreenError::NotYet { position, first });
        }
        let family = annals.conversations().family(self.id, at).await?;
        let turns = annals.conversation(self.id, at, TurnRange::all()).await?;
        self.past = past;
        self.put(&family.session, turns.turns);
        Ok(())
    }

    fn put(&mut self, listed: &SessionListed, turns: Vec<Turn>) {
        self.title = safe(&listed.summary.title_or_words());
        self.facts = safe(&facts(listed));
        self.turns = turns;
        self.draw_lines();
    }

    /// The step at which it is shown, as an index of `steps`.
    pub(crate) fn step(&self) -> usize {
        let until = match self.past {
            Some(past) => self.steps.partition_point(|step| *step <= past.position),
            None => self.steps.len(),
        };
        until.saturating_sub(1)
    }

    /// The position to which it is moved: `to` gives the new step from the current one and the last one, behind which is
    /// the present, `None`.
    pub(crate) fn moved(&self, to: impl Fn(usize, usize) -> usize) -> Option<Position> {
        let last = self.steps.len().saturating_sub(1);
        let step = to(self.step(), last);
        let position = self.steps.get(step).copied();
        position.filter(|_| step < last)
    }

    /// The number of turns that are shown.
    pub(crate) fn shown(&self) -> usize {
        self.turns.len()
    }

    /// The time of the newest turn that is shown.
    pub(crate) fn newest(&self) -> Option<annals::domain::Timestamp> {
        self.turns.iter().rev().find_map(|turn| turn.at)
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

/// The first position at which a session is one: its first events alone need not make it one.
async fn beginning(
    annals: &Annals,
    id: Uuid,
    first: Position,
    last: Position,
) -> Result<Position, ScreenError> {
    let (mut low, mut high) = (first.0, first.0);
    let mut is_found = false;
    // It is close to the first event: steps double until it is passed, and halve from there.
    while low < high || !is_found {
        let at = match is_found {
            true => low + (high - low) / 2,
            false => high,
        };
        match annals
            .conversations()
            .family(id, At::Position(Position(at)))
            .await
        {
            Ok(_) => (high, is_found) = (at, true),
            Err(SessionError::NotYet { .. }) if is_found => low = at + 1,
            Err(SessionError::NotYet { .. }) if at >= last.0 => return Ok(last),
            Err(SessionError::NotYet { .. }) => {
                low = at + 1;
                high = at.saturating_add(at - first.0 + 1).min(last.0);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Position(high))
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
