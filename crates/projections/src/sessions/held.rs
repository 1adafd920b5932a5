//! Rows of sessions that are held decoded while a page of events is folded, and the tree of tasks.

use std::collections::{HashMap, HashSet};

use annals_domain::StreamKind;
use uuid::Uuid;

use super::row::{
    self, BELOW, CALL, FACTS, FILE, HIDDEN, NODE, Node, RUN, RunRow, SESSION, SessionFacts,
    SessionFile, SessionRow,
};
use crate::projection::{ProjectionError, Table};

/// Tasks that a task can be below.
const DEPTH: usize = 256;
/// Tasks below one that are looked at when its session changes its place.
const BELOW_ONE: usize = 100_000;
/// Streams of one session that are remembered, beside its task and its runs.
const STREAMS: usize = 100_000;
/// Rows that are read at once.
const PAGE: usize = 1_024;

/// Rows that are held until the end of a page.
#[derive(Debug, Default)]
pub(super) struct HeldRows {
    sessions: HashMap<Uuid, HeldSession>,
    nodes: HashMap<Uuid, Option<Node>>,
    runs: HashMap<Uuid, Option<RunRow>>,
    pipelines: HashMap<Uuid, Option<Uuid>>,
}

/// A session, or a task that is none yet.
#[derive(Debug)]
pub(super) struct HeldSession {
    pub(super) row: SessionRow,
    pub(super) facts: SessionFacts,
    /// The key that its row has in the table.
    stored_at: Option<Vec<u8>>,
}

impl HeldSession {
    /// Remembers a stream that the session is folded from.
    pub(super) fn add_stream(&mut self, kind: StreamKind, id: Uuid) {
        let streams = &mut self.facts.streams;
        let is_known = |it: &(String, Uuid)| it.1 == id;
        if streams.len() < STREAMS && !streams.iter().rev().any(is_known) {
            streams.push((kind.as_str().to_owned(), id));
        }
    }
}

/// The rows of a table while events are folded into them.
pub(super) struct Rows<'a, 'log> {
    pub(super) table: &'a mut Table<'log>,
    held: HeldRows,
}

impl<'a, 'log> Rows<'a, 'log> {
    /// Takes up what the table holds since its page began.
    pub(super) fn of(table: &'a mut Table<'log>) -> Rows<'a, 'log> {
        let held = table.take_scratch();
        Rows { table, held }
    }

    /// Leaves what is held to the next event of the page.
    pub(super) fn keep(self) {
        self.table.keep_scratch(self.held);
    }

    /// Puts all that is held into the table.
    pub(super) fn write(mut self) -> Result<(), ProjectionError> {
        for (id, session) in std::mem::take(&mut self.held.sessions) {
            let root = self.held.nodes.get(&id).and_then(Option::as_ref);
            let root = root.and_then(|node| node.root);
            let key = match root {
                Some(root) => row::pair(SESSION, root, id),
                None => row::key(HIDDEN, id),
            };
            if let Some(before) = session.stored_at.filter(|before| *before != key) {
                self.table.delete(&before);
            }
            self.table.put_bytes(&key, row::write(&session.row)?);
            let facts = row::write(&session.facts)?;
            self.table.put_bytes(&row::key(FACTS, id), facts);
        }
        Ok(())
    }

    pub(super) async fn node(&mut self, id: Uuid) -> Result<Option<Node>, ProjectionError> {
        if let Some(node) = self.held.nodes.get(&id) {
            return Ok(node.clone());
        }
        let node: Option<Node> = row::get(self.table, &row::key(NODE, id)).await?;
        self.held.nodes.insert(id, node.clone());
        Ok(node)
    }

    pub(super) fn put_node(&mut self, id: Uuid, node: Node) -> Result<(), ProjectionError> {
        self.table
            .put_bytes(&row::key(NODE, id), row::write(&node)?);
        self.held.nodes.insert(id, Some(node));
        Ok(())
    }

    pub(super) async fn run(&mut self, id: Uuid) -> Result<Option<RunRow>, ProjectionError> {
        if let Some(run) = self.held.runs.get(&id) {
            return Ok(run.clone());
        }
        let run: Option<RunRow> = row::get(self.table, &row::key(RUN, id)).await?;
        self.held.runs.insert(id, run.clone());
        Ok(run)
    }

    pub(super) fn put_run(&mut self, id: Uuid, run: RunRow) -> Result<(), ProjectionError> {
        self.table.put_bytes(&row::key(RUN, id), row::write(&run)?);
        self.held.runs.insert(id, Some(run));
        Ok(())
    }

    /// The task that uses a pipeline.
    pub(super) async fn pipeline(&mut self, id: Uuid) -> Result<Option<Uuid>, ProjectionError> {
        if let Some(task) = self.held.pipelines.get(&id) {
            return Ok(*task);
        }
        let task: Option<Uuid> = row::get(self.table, &row::key(row::PIPELINE, id)).await?;
        self.held.pipelines.insert(id, task);
        Ok(task)
    }

    pub(super) fn put_pipeline(&mut self, id: Uuid, task: Uuid) -> Result<(), ProjectionError> {
        self.table
            .put_bytes(&row::key(row::PIPELINE, id), row::write(&task)?);
        self.held.pipelines.insert(id, Some(task));
        Ok(())
    }

    /// The session that a task, a run or a contracts session was merged into; itself if it was not.
    pub(super) async fn merged(&mut self, id: Uuid) -> Result<Uuid, ProjectionError> {
        let mut at = id;
        for _ in 0..DEPTH {
            match self.node(at).await?.and_then(|node| node.into) {
                Some(into) if into != id => at = into,
                _ => break,
            }
        }
        Ok(at)
    }

    /// The session with an id, empty if it is new. The id must be that of no merged one.
    pub(super) async fn session(&mut self, id: Uuid) -> Result<&mut HeldSession, ProjectionError> {
        if !self.held.sessions.contains_key(&id) {
            let session = self.load(id).await?;
            self.held.sessions.insert(id, session);
        }
        let held = self.held.sessions.entry(id);
        Ok(held.or_insert_with(|| HeldSession::new(id)))
    }

    async fn load(&mut self, id: Uuid) -> Result<HeldSession, ProjectionError> {
        let Some(node) = self.node(id).await? else {
            return Ok(HeldSession::new(id));
        };
        let key = match node.root {
            Some(root) => row::pair(SESSION, root, id),
            None => row::key(HIDDEN, id),
        };
        let row: Option<SessionRow> = row::get(self.table, &key).await?;
        let facts: Option<SessionFacts> = row::get(self.table, &row::key(FACTS, id)).await?;
        Ok(match row {
            Some(row) => HeldSession {
                row,
                facts: facts.unwrap_or_default(),
                stored_at: Some(key),
            },
            None => HeldSession::new(id),
        })
    }

    /// Makes sure that a task has a node.
    pub(super) async fn ensure(&mut self, id: Uuid) -> Result<Node, ProjectionError> {
        match self.node(id).await? {
            Some(node) => Ok(node),
            None => {
                self.put_node(id, Node::default())?;
                Ok(Node::default())
            }
        }
    }

    /// Puts a task below another one.
    pub(super) async fn set_parent(
        &mut self,
        id: Uuid,
        parent: Option<Uuid>,
    ) -> Result<(), ProjectionError> {
        let node = self.ensure(id).await?;
        if node.parent == parent {
            return Ok(());
        }
        if let Some(before) = node.parent {
            self.table.delete(&row::pair(BELOW, before, id));
        }
        if let Some(parent) = parent {
            self.table
                .put_bytes(&row::pair(BELOW, parent, id), bytes::Bytes::new());
        }
        let is_session = node.root.is_some();
        self.put_node(id, Node { parent, ..node })?;
        match is_session {
            true => self.place(id).await,
            false => Ok(()),
        }
    }

    /// Makes a task a session, unless it is one.
    pub(super) async fn begin(&mut self, id: Uuid) -> Result<(), ProjectionError> {
        match self.ensure(id).await?.root {
            Some(_) => Ok(()),
            None => self.place(id).await,
        }
    }

    /// Finds the place of a session in the tree, and of those below it.
    async fn place(&mut self, id: Uuid) -> Result<(), ProjectionError> {
        let (parent, root) = self.above(id).await?;
        self.set_place(id, parent, root).await?;
        let mut seen = HashSet::from([id, root]);
        let mut next: Vec<(Uuid, Uuid)> = Vec::new();
        for child in self.below(id).await? {
            next.push((child, id));
        }
        while let Some((task, nearest)) = next.pop() {
            let task = self.merged(task).await?;
            if !seen.insert(task) || seen.len() > BELOW_ONE {
                continue;
            }
            let is_session = self.ensure(task).await?.root.is_some();
            let nearest = match is_session {
                true => {
                    self.set_place(task, Some(nearest), root).await?;
                    task
                }
                false => nearest,
            };
            for child in self.below(task).await? {
                next.push((child, nearest));
            }
        }
        Ok(())
    }

    async fn set_place(
        &mut self,
        id: Uuid,
        parent: Option<Uuid>,
        root: Uuid,
    ) -> Result<(), ProjectionError> {
        // The row is loaded by the key that it has now.
        let summary = &mut self.session(id).await?.row.summary;
        summary.parent = parent;
        summary.root = root;
        let node = self.ensure(id).await?;
        let root = Some(root);
        self.put_node(id, Node { root, ..node })
    }

    /// The nearest session above a task, and the one at the top.
    async fn above(&mut self, id: Uuid) -> Result<(Option<Uuid>, Uuid), ProjectionError> {
        let mut seen = HashSet::from([id]);
        let mut next = self.ensure(id).await?.parent;
        while let Some(parent) = next {
            let parent = self.merged(parent).await?;
            if !seen.insert(parent) || seen.len() > DEPTH {
                break;
            }
            let node = self.node(parent).await?.unwrap_or_default();
            if let Some(root) = node.root {
                // In a ring of tasks the first session is at the top.
                return Ok(match root == id {
                    true => (None, id),
                    false => (Some(parent), root),
                });
            }
            next = node.parent;
        }
        Ok((None, id))
    }

    /// The tasks right below one.
    async fn below(&mut self, id: Uuid) -> Result<Vec<Uuid>, ProjectionError> {
        let rows = self.all(&row::key(BELOW, id)).await?;
        let keys = rows.iter().filter_map(|(key, _)| row::second_id(key));
        Ok(keys.collect())
    }

    async fn all(
        &mut self,
        prefix: &[u8],
    ) -> Result<Vec<(bytes::Bytes, bytes::Bytes)>, ProjectionError> {
        let (mut rows, mut after) = (Vec::new(), None);
        loop {
            let (page, next) = self.table.page(prefix, after.as_deref(), PAGE).await?;
            rows.extend(page);
            match next {
                Some(next) => after = Some(next),
                None => return Ok(rows),
            }
        }
    }

    /// Merges what was folded under one id into a session.
    pub(super) async fn merge(&mut self, from: Uuid, to: Uuid) -> Result<(), ProjectionError> {
        let to = self.merged(to).await?;
        let node = self.ensure(from).await?;
        if from == to || node.into.is_some() {
            return Ok(());
        }
        self.session(from).await?;
        let Some(session) = self.held.sessions.remove(&from) else {
            return Ok(());
        };
        if let Some(before) = &session.stored_at {
            self.table.delete(before);
            self.table.delete(&row::key(FACTS, from));
        }
        self.put_node(
            from,
            Node {
                root: None,
                into: Some(to),
                ..node
            },
        )?;
        self.ensure(to).await?;
        self.session(to).await?.take_in(session);
        self.move_files(from, to).await?;
        for child in self.below(from).await? {
            self.table
                .put_bytes(&row::pair(BELOW, to, child), bytes::Bytes::new());
        }
        let target = self.ensure(to).await?;
        if let (None, Some(parent)) = (target.parent, node.parent) {
            self.set_parent(to, Some(parent)).await?;
        }
        match node.root.is_some() || target.root.is_some() {
            true => self.place(to).await,
            false => Ok(()),
        }
    }

    async fn move_files(&mut self, from: Uuid, to: Uuid) -> Result<(), ProjectionError> {
        for (key, value) in self.all(&row::key(FILE, from)).await? {
            let file: SessionFile = row::read(&key, &value)?;
            self.table.delete(&key);
            let mark = row::mark(&[&file.path]);
            self.add_file(to, mark, file).await?;
        }
        Ok(())
    }

    /// Adds to a session's file.
    pub(super) async fn add_file(
        &mut self,
        session: Uuid,
        mark: [u8; 16],
        more: SessionFile,
    ) -> Result<(), ProjectionError> {
        let key = row::marked(FILE, session, &mark);
        let known: Option<SessionFile> = row::get(self.table, &key).await?;
        let counts = &mut self.session(session).await?.row.summary.files;
        counts.files += u64::from(known.is_none());
        counts.added = counts.added.saturating_add(more.added);
        counts.deleted = counts.deleted.saturating_add(more.deleted);
        let mut file = known.unwrap_or_else(|| SessionFile {
            path: more.path,
            ..SessionFile::default()
        });
        file.added = file.added.saturating_add(more.added);
        file.deleted = file.deleted.saturating_add(more.deleted);
        file.patch_sets = file.patch_sets.saturating_add(more.patch_sets);
        self.table.put_bytes(&key, row::write(&file)?);
        Ok(())
    }

    /// Takes one patch set out of a session's file.
    pub(super) async fn take_file(
        &mut self,
        session: Uuid,
        (mark, added, deleted): ([u8; 16], u64, u64),
    ) -> Result<(), ProjectionError> {
        let key = row::marked(FILE, session, &mark);
        let Some(mut file): Option<SessionFile> = row::get(self.table, &key).await? else {
            return Ok(());
        };
        file.added = file.added.saturating_sub(added);
        file.deleted = file.deleted.saturating_sub(deleted);
        file.patch_sets = file.patch_sets.saturating_sub(1);
        let is_gone = file.patch_sets == 0;
        match is_gone {
            true => self.table.delete(&key),
            false => self.table.put_bytes(&key, row::write(&file)?),
        }
        let counts = &mut self.session(session).await?.row.summary.files;
        counts.files = counts.files.saturating_sub(u64::from(is_gone));
        counts.added = counts.added.saturating_sub(added);
        counts.deleted = counts.deleted.saturating_sub(deleted);
        Ok(())
    }

    /// A tool call's row.
    pub(super) async fn call(&mut self, id: Uuid) -> Result<Option<row::CallRow>, ProjectionError> {
        row::get(self.table, &row::key(CALL, id)).await
    }
}

impl HeldSession {
    fn new(id: Uuid) -> HeldSession {
        HeldSession {
            row: SessionRow::new(id),
            facts: SessionFacts::default(),
            stored_at: None,
        }
    }

    /// Adds what was folded of another one, which is the same session.
    fn take_in(&mut self, other: HeldSession) {
        let (row, more) = (&mut self.row, other.row);
        let (ours, theirs) = (&mut row.summary, more.summary);
        more.uses.into_iter().for_each(|it| row.uses.push(it));
        row.continues = row.continues.or(more.continues);
        // A recording's own names come before those of a contract.
        ours.agent = ours.agent.take().or(theirs.agent);
        ours.agent_version = ours.agent_version.take().or(theirs.agent_version);
        ours.agent_session = ours.agent_session.take().or(theirs.agent_session);
        ours.directory = ours.directory.take().or(theirs.directory);
        ours.project = ours.project.take().or(theirs.project);
        ours.branch = ours.branch.take().or(theirs.branch);
        ours.intent = ours.intent.or(theirs.intent);
        ours.end = match (ours.end.take(), theirs.end) {
            (Some(ours), Some(theirs)) if theirs.position > ours.position => Some(theirs),
            (ours, theirs) => ours.or(theirs),
        };
        ours.first_position = match (ours.first_position, theirs.first_position) {
            (0, other) | (other, 0) => other,
            (ours, theirs) => ours.min(theirs),
        };
        ours.last_position = ours.last_position.max(theirs.last_position);
        let counts = &mut ours.counts;
        counts.prompts += theirs.counts.prompts;
        counts.answers += theirs.counts.answers;
        counts.tool_calls += theirs.counts.tool_calls;
        counts.failed_calls += theirs.counts.failed_calls;
        counts.denied_calls += theirs.counts.denied_calls;
        counts.compactions += theirs.counts.compactions;
        for run in theirs.runs {
            if !ours.runs.contains(&run) {
                ours.runs.push(run);
            }
        }
        self.note_times([theirs.started, theirs.last_activity]);
        self.facts.merge(other.facts);
        self.settle();
    }
}
