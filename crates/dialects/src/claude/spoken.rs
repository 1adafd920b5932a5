//! Where a line belongs: to which session, and to which chain of it.

use annals_domain::pipeline::FrameKind;
use annals_domain::{ActorRef, PipelineId, Timestamp};

use super::error::ClaudeImportError;
use super::fields::{self, Table};
use super::ids;
use super::importer::{Done, Importer};
use super::line::{Block, Talk};
use super::map::{self, By, FrameData, Part};
use super::remark::Remark;
use super::same::Said;
use super::session::{MAIN, Session, Setting};
use super::unit::{Frame, Load, Unit};

/// A line of a session, with where it belongs.
pub(super) struct Spoken<'t> {
    pub(super) talk: &'t Talk,
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
        talk: &'t Talk,
        text: &str,
        line: u64,
    ) -> Result<Option<Spoken<'t>>, ClaudeImportError> {
        let mut load = Load::line();
        let name = match talk.session_id.as_deref() {
            Some(name) if !name.trim().is_empty() => name.to_owned(),
            _ => {
                load.remarks.push(Remark::NoSession);
                load.fields.inferred("sessionId (the file's name)");
                self.stem.clone()
            }
        };
        let said = Said::of(talk);
        let id = ids::line_of(&name, talk.name());
        match self.seen.get(&id).copied() {
            Some(before) => {
                if before.is_same(&said) {
                    self.report.already_there += 1;
                } else {
                    self.conflict(talk.name(), line);
                }
                return Ok(None);
            }
            None => self.seen.put(id, said),
        };
        let chain_name = self.chain_of(talk, &name);
        let session = self
            .sessions
            .entry(name.clone())
            .or_insert_with(|| Session::new(&name));
        match talk.at() {
            Some(at) => session.at = at,
            None => load.remarks.push(Remark::NoTime),
        }
        let at = session.at;
        if chain_name != MAIN {
            session.newest_side = Some(chain_name.clone());
        }
        let chain = session.chain(&chain_name);
        let pipeline = chain.ids.pipeline;
        let setting = chain.setting.get_or_insert_with(|| Setting::of(talk));
        let mut lost = setting.differing(talk);
        if talk.at().is_none() {
            lost.push("timestamp");
        }
        fields::count(text, "", fields::TALK, &lost, &mut load.fields);
        self.hand_out_summaries(&name).await?;
        Ok(Some(Spoken {
            talk,
            session: name,
            chain: chain_name,
            pipeline,
            at,
            line,
            load,
        }))
    }

    /// The chain that a line belongs to: the session's own, or a side chain,
    /// named by its `agentId` or else by its first line.
    pub(super) fn chain_of(&mut self, talk: &Talk, session: &str) -> String {
        if !talk.is_sidechain() {
            return MAIN.to_owned();
        }
        if let Some(agent) = talk.agent_id.as_deref().filter(|id| !id.trim().is_empty()) {
            return agent.to_owned();
        }
        let parent = talk.parent_uuid.as_deref();
        let known = parent.and_then(|parent| self.side_lines.get(parent).cloned());
        let newest = || {
            let parent = parent?;
            // What hangs on the session's own course begins a chain. A parent
            // that is not known was on a line that cannot be read.
            let is_own = self.seen.contains(&ids::line_of(session, parent));
            let newest = &self.sessions.get(session)?.newest_side;
            newest.clone().filter(|_| !is_own)
        };
        let chain = known
            .or_else(newest)
            .unwrap_or_else(|| talk.name().to_owned());
        self.side_lines.put(talk.name().to_owned(), chain.clone());
        chain
    }

    /// Summaries name no session. They stand before the one that they are read
    /// with.
    pub(super) async fn hand_out_summaries(&mut self, session: &str) -> Done {
        for (summary, load, line) in std::mem::take(&mut self.summaries) {
            let Some(own) = self.sessions.get_mut(session) else {
                return Ok(());
            };
            let by = By {
                actor: map::program(),
                at: own.at,
            };
            let data = FrameData {
                line: summary.leaf_uuid.as_deref(),
                ..FrameData::default()
            };
            let text = summary.summary.as_deref().unwrap_or_default();
            let pipeline = own.chain(MAIN).ids.pipeline;
            let frame = map::text_frame(pipeline, FrameKind::Checkpoint, text, data);
            let unit = Unit {
                key: ids::frame_batch(&summary.name, 0),
                name: summary.name.clone(),
                requests: vec![by.request(frame.push)],
                seen: frame.seen,
                tokens: None,
                model: None,
                load,
                line,
            };
            self.context(session, MAIN, unit).await?;
        }
        Ok(())
    }
}

impl Spoken<'_> {
    pub(super) fn by(&self, actor: ActorRef) -> By {
        By { actor, at: self.at }
    }

    /// Counts the tokens as lost that a line has which the model did not say.
    pub(super) fn no_tokens(&mut self) {
        let Some(usage) = self.talk.message().usage else {
            return;
        };
        for (path, count) in fields::TOKENS.iter().zip(usage.fields()) {
            if count > 0 {
                self.load.fields.lost(path, count);
            }
        }
    }

    pub(super) fn data(&self) -> FrameData<'_> {
        let message = self.talk.message();
        FrameData {
            line: Some(self.talk.name()),
            parent_line: self.talk.parent_uuid.as_deref(),
            message: Some(message.id).filter(|id| *id != self.talk.name()),
            subtype: self.talk.subtype.as_deref(),
            ..FrameData::default()
        }
    }

    /// The unit of a frame; `index` is the number of the part that it is for.
    pub(super) fn unit(&mut self, actor: ActorRef, frame: Frame, index: usize) -> Unit {
        Unit {
            key: ids::frame_batch(self.talk.name(), index),
            name: self.talk.name().to_owned(),
            requests: vec![self.by(actor).request(frame.push)],
            seen: frame.seen,
            tokens: self.talk.tokens(index),
            model: self.talk.message().model.map(str::to_owned),
            load: self.load.take(),
            line: self.line,
        }
    }

    /// The frame of a part that is kept whole.
    pub(super) fn part_frame(&self, kind: FrameKind, summary: &str, part: Option<Part>) -> Frame {
        let left_out = part.is_none().then_some(map::LEFT_OUT);
        let (own, content) = part.map(|part| (part.own, part.content)).unzip();
        let data = FrameData {
            left_out,
            part: own.flatten(),
            ..self.data()
        };
        map::frame(self.pipeline, kind, summary, data, content, None)
    }

    pub(super) fn text_frame(
        &mut self,
        kind: FrameKind,
        text: &str,
        actor: ActorRef,
        index: usize,
    ) -> Unit {
        let frame = map::text_frame(self.pipeline, kind, text, self.data());
        self.unit(actor, frame, index)
    }
}

/// Counts the fields of a part.
pub(super) fn count_block(block: &Block, table: Table, lost: &[&str], load: &mut Load) {
    match &block.raw {
        Some(raw) => {
            let path = "message.content[]";
            fields::count(raw.get(), path, table, lost, &mut load.fields);
        }
        None => load.fields.kept("message.content"),
    }
}
