//! Where a line belongs: to which session, and to which chain of it.

use annals_domain::pipeline::FrameKind;
use annals_domain::{ActorRef, PipelineId, Timestamp};

use super::batch::{Frame, ImportBatch, Load};
use super::commands::{self, By, FrameData};
use super::ids::Ids;
use super::importer::{Done, Importer};
use super::item::{COUNTS, Course, Entry, Item};
use super::remark::Remark;
use super::session::{MAIN, Session};
use super::texts::Part;
use crate::import::error::ImportError;
use crate::import::fields;

/// A line of a session, with where it belongs.
pub(super) struct Spoken<'t> {
    pub(super) entry: &'t Entry,
    pub(super) ids: Ids,
    pub(super) session: String,
    pub(super) chain: String,
    pub(super) pipeline: PipelineId,
    pub(super) at: Timestamp,
    pub(super) line: u64,
    pub(super) load: Load,
}

impl Importer<'_> {
    /// Finds out where a line belongs, and counts its fields but for those of
    /// its parts. A line that its session had before counts once: none.
    pub(super) async fn spoken<'t>(
        &mut self,
        entry: &'t Entry,
        line: u64,
    ) -> Result<Option<Spoken<'t>>, ImportError> {
        let mut load = Load::line();
        let older = self.older_session(entry).await?;
        let name = match older.or(entry.session.as_ref()) {
            Some(name) => name.clone(),
            None => {
                load.remarks.push(Remark::NoSession);
                let path = self.agent.session_path;
                load.fields.inferred(&format!("{path} (the file's name)"));
                self.stem.clone()
            }
        };
        let id = self.ids.line(&name, &entry.name);
        match self.seen.get(&id).copied() {
            Some(before) => {
                if before.is_same(&entry.said) {
                    self.report.already_there += 1;
                } else {
                    self.conflict(&entry.name, line);
                }
                return Ok(None);
            }
            None => self.seen.put(id, entry.said),
        };
        let chain_name = self.chain_of(entry, &name);
        let session = self
            .sessions
            .entry(name.clone())
            .or_insert_with(|| Session::new(self.ids, &name));
        match entry.at {
            Some(at) => session.at = at,
            None => load.remarks.push(Remark::NoTime),
        }
        let at = session.at;
        if chain_name != MAIN {
            session.newest_side = Some(chain_name.clone());
        }
        let chain = session.chain(&chain_name);
        let pipeline = chain.ids.pipeline;
        let mut lost = match &entry.setting {
            Some(now) => {
                let first = chain.setting.get_or_insert_with(|| now.clone());
                first.differing(now, self.agent)
            }
            None => Vec::new(),
        };
        if entry.origin.git_branch.is_some() {
            // Its frames say it.
            let [_, branch, _] = self.agent.setting_paths;
            lost.retain(|path| *path != branch);
        }
        if entry.at.is_none() {
            lost.push(self.agent.time_path);
        }
        fields::count(&entry.text, "", entry.table, &lost, &mut load.fields);
        self.hand_out_summaries(&name).await?;
        Ok(Some(Spoken {
            entry,
            ids: self.ids,
            session: name,
            chain: chain_name,
            pipeline,
            at,
            line,
            load,
        }))
    }

    /// The session in which the log has the side chain of a line, if an older version recorded it in another one.
    async fn older_session<'t>(
        &mut self,
        entry: &'t Entry,
    ) -> Result<Option<&'t String>, ImportError> {
        let (Some(older), Course::Side(chain)) = (&entry.older_session, &entry.course) else {
            return Ok(None);
        };
        let begun = self.ids.side_chain(older, chain).batch;
        Ok(self.is_known(begun).await?.then_some(older))
    }

    /// The chain that a line belongs to: the session's own, or a side chain,
    /// by its name or else by its first line.
    pub(super) fn chain_of(&mut self, entry: &Entry, session: &str) -> String {
        match &entry.course {
            Course::Main => return MAIN.to_owned(),
            Course::Side(name) => return name.clone(),
            Course::Beside => {}
        }
        let parent = entry.parent.as_deref();
        let known = parent.and_then(|parent| self.side_lines.get(parent).cloned());
        let newest = || {
            let parent = parent?;
            // What hangs on the session's own course begins a chain. A parent
            // that is not known was on a line that cannot be read.
            let is_own = self.seen.contains(&self.ids.line(session, parent));
            let newest = &self.sessions.get(session)?.newest_side;
            newest.clone().filter(|_| !is_own)
        };
        let chain = known.or_else(newest).unwrap_or_else(|| entry.name.clone());
        self.side_lines.put(entry.name.clone(), chain.clone());
        chain
    }

    /// Summaries name no session. They come before the one that they are read
    /// with.
    pub(super) async fn hand_out_summaries(&mut self, session: &str) -> Done {
        for (summary, line) in std::mem::take(&mut self.summaries) {
            let Some(own) = self.sessions.get_mut(session) else {
                return Ok(());
            };
            let by = By {
                actor: self.agent.program(),
                at: own.at,
            };
            let data = FrameData {
                line: summary.leaf.as_deref(),
                // It is no summary of what was dropped, but the title of the session that has the line.
                subtype: Some("summary"),
                ..FrameData::default()
            };
            let pipeline = own.chain(MAIN).ids.pipeline;
            let frame =
                commands::text_frame(pipeline, FrameKind::Checkpoint, &summary.summary, data);
            let batch = ImportBatch {
                key: self.ids.frame_batch(&summary.name, 0),
                name: summary.name,
                requests: vec![by.request(frame.push)],
                seen: frame.seen,
                tokens: None,
                model: None,
                load: Load {
                    fields: summary.fields,
                    ..Load::line()
                },
                line,
            };
            self.context(session, MAIN, batch).await?;
        }
        Ok(())
    }
}

impl Spoken<'_> {
    pub(super) fn by(&self, actor: ActorRef) -> By {
        By { actor, at: self.at }
    }

    /// Counts the tokens as lost that a line has which the model did not say.
    pub(super) fn no_tokens(&mut self, paths: &[&str; COUNTS]) {
        let Some(usage) = self.entry.usage else {
            return;
        };
        for (path, count) in paths.iter().zip(usage.fields) {
            if count > 0 {
                self.load.fields.lost(path, count);
            }
        }
    }

    pub(super) fn data(&self) -> FrameData<'_> {
        let entry = self.entry;
        FrameData {
            line: Some(&entry.name),
            parent_line: entry.parent.as_deref(),
            message: Some(entry.message()).filter(|id| *id != entry.name),
            subtype: entry.subtype.as_deref(),
            origin: Some(&entry.origin),
            ..FrameData::default()
        }
    }

    /// The batch of an item's frame.
    pub(super) fn batch(&mut self, actor: ActorRef, frame: Frame, item: &Item) -> ImportBatch {
        ImportBatch {
            key: self.ids.frame_batch(&self.entry.name, item.frame),
            name: self.entry.name.clone(),
            requests: vec![self.by(actor).request(frame.push)],
            seen: frame.seen,
            tokens: item.tokens,
            model: self.entry.model.clone(),
            load: self.load.take(),
            line: self.line,
        }
    }

    /// The frame of a part that is kept whole.
    pub(super) fn part_frame(&self, kind: FrameKind, summary: &str, part: Option<&Part>) -> Frame {
        let left_out = part.is_none().then_some(commands::LEFT_OUT);
        let data = FrameData {
            left_out,
            part: part.and_then(|part| part.own.clone()),
            ..self.data()
        };
        let content = part.map(|part| part.content.clone());
        commands::frame(self.pipeline, kind, summary, data, content, None)
    }

    pub(super) fn text_batch(
        &mut self,
        kind: FrameKind,
        text: &str,
        actor: ActorRef,
        item: &Item,
    ) -> ImportBatch {
        let frame = commands::text_frame(self.pipeline, kind, text, self.data());
        self.batch(actor, frame, item)
    }
}
