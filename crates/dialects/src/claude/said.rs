//! What was said: prompts, the model's texts and thoughts, what the program
//! adds.

use annals_domain::pipeline::FrameKind;

use super::fields::{self, Table};
use super::ids;
use super::importer::{Done, Importer};
use super::line::{Block, Part, Talk};
use super::map::{self, FrameData};
use super::remark::Remark;
use super::session::MAIN;
use super::spoken::{Spoken, count_block};
use super::tool;
use super::unit::Unit;
use super::written;

impl Importer<'_> {
    pub(super) async fn user(&mut self, mut spoken: Spoken<'_>) -> Done {
        let talk = spoken.talk;
        spoken.no_tokens();
        let mut answers = false;
        for (index, block) in talk.blocks.iter().enumerate() {
            if let Part::ToolResult { .. } = &block.part {
                answers = true;
                self.answer(&mut spoken, block, index).await?;
            }
        }
        if !answers && let Some(result) = &talk.tool_use_result {
            let fields = &mut spoken.load.fields;
            fields::count(result.get(), "toolUseResult", fields::NOTHING, &[], fields);
        }
        let text = talk.texts();
        if !text.trim().is_empty() {
            self.text_of_user(&mut spoken, &text, answers).await?;
        }
        for (index, block) in talk.blocks.iter().enumerate() {
            if let Part::Thinking(_) | Part::ToolUse { .. } | Part::Other(_) = &block.part {
                self.part(&mut spoken, block, index, true).await?;
            }
        }
        self.leftover(spoken, "user");
        Ok(())
    }

    pub(super) async fn text_of_user(
        &mut self,
        spoken: &mut Spoken<'_>,
        text: &str,
        answers: bool,
    ) -> Done {
        let talk = spoken.talk;
        for block in &talk.blocks {
            if let Part::Text(_) = &block.part {
                count_block(block, fields::TEXT, &[], &mut spoken.load);
            }
        }
        if map::bounded(text).len() < text.len() {
            spoken.load.remarks.push(Remark::TextCut);
            spoken.load.fields.lost("message.content (beyond 1 MiB)", 1);
        }
        let asked = written::asked(text);
        let session = self.session(&spoken.session);
        let chain = session.chain(&spoken.chain);
        let begins = chain.is_side() && chain.title.is_none();
        if begins {
            chain.title = Some(map::bounded(text).to_owned());
        }
        let kind = if talk.is_compact_summary() {
            FrameKind::Checkpoint
        } else if begins {
            FrameKind::IntentAnalysis
        } else if let Some(asked) = asked
            && !(talk.is_sidechain() || talk.is_meta() || answers)
        {
            return self.prompt(spoken, text, asked).await;
        } else {
            FrameKind::SystemState
        };
        let actor = if begins { map::agent() } else { map::program() };
        let unit = spoken.text_frame(kind, text, actor, 0);
        match begins {
            true => self.work(&spoken.session, &spoken.chain, unit).await,
            false => self.context(&spoken.session, &spoken.chain, unit).await,
        }
    }

    /// Records a prompt: what was asked as an intent, and all of the text as a frame.
    async fn prompt(&mut self, spoken: &mut Spoken<'_>, text: &str, asked: &str) -> Done {
        let line = spoken.talk.name();
        let intent = ids::intent(line);
        let refines = self.refined(&spoken.session, intent).await?;
        let session = self.session(&spoken.session);
        session.doubt();
        session.first_intent.get_or_insert(intent);
        session.last_intent = Some(intent);
        let chain = session.chain(MAIN);
        chain
            .title
            .get_or_insert_with(|| map::bounded(asked).to_owned());
        let mut load = spoken.load.take();
        load.fields.inferred("intent.content (the prompt)");
        load.fields
            .inferred("actor (one person, one agent, one program)");
        let requests = map::prompt(intent, refines, asked, &spoken.session, line, spoken.at);
        let unit = Unit {
            key: ids::prompt_batch(line),
            name: line.to_owned(),
            requests,
            seen: None,
            tokens: None,
            model: None,
            load,
            line: spoken.line,
        };
        self.once(unit).await?;
        let frame = spoken.text_frame(FrameKind::IntentAnalysis, text, map::person(), 0);
        self.work(&spoken.session, MAIN, frame).await
    }

    /// A part of the message that is no text of a user's and no result.
    pub(super) async fn part(
        &mut self,
        spoken: &mut Spoken<'_>,
        block: &Block,
        index: usize,
        is_user: bool,
    ) -> Done {
        let actor = if is_user { map::person() } else { map::agent() };
        let (kind, text, table) = match &block.part {
            Part::Text(text) => (FrameKind::StepSummary, text.as_str(), fields::TEXT),
            Part::Thinking(text) => {
                let kind = FrameKind::Other("thinking".to_owned());
                (kind, text.as_str(), fields::THINKING)
            }
            Part::ToolUse { .. } if !is_user => return self.tool_use(spoken, block, index).await,
            Part::ToolUse { .. } => return self.other(spoken, block, index, "tool_use").await,
            Part::ToolResult { .. } => {
                return self.other(spoken, block, index, "tool_result").await;
            }
            Part::Other(kind) => return self.other(spoken, block, index, kind).await,
        };
        count_block(block, table, &[], &mut spoken.load);
        if text.trim().is_empty() {
            return Ok(());
        }
        if map::bounded(text).len() < text.len() {
            spoken.load.remarks.push(Remark::TextCut);
            spoken
                .load
                .fields
                .lost("message.content[] (beyond 1 MiB)", 1);
        }
        let unit = spoken.text_frame(kind, text, actor, index + 1);
        self.work(&spoken.session, &spoken.chain, unit).await
    }

    /// A part that has no place of its own: a frame keeps it as it is.
    pub(super) async fn other(
        &mut self,
        spoken: &mut Spoken<'_>,
        block: &Block,
        index: usize,
        kind: &str,
    ) -> Done {
        let part = map::part(block.raw.as_deref());
        let (lost, table): (&[&str], Table) = match part {
            Some(_) => (&[], fields::WHOLE),
            None => (&["message.content[]"], fields::NOTHING),
        };
        if part.is_none() {
            spoken.load.remarks.push(Remark::PartTooLarge);
        }
        count_block(block, table, lost, &mut spoken.load);
        let kind = match kind.trim() {
            "" => "(none)",
            kind => map::beginning(kind, 100),
        };
        let frame = spoken.part_frame(FrameKind::Other(kind.to_owned()), kind, part);
        let unit = spoken.unit(map::program(), frame, index + 1);
        self.context(&spoken.session, &spoken.chain, unit).await
    }

    pub(super) async fn assistant(&mut self, mut spoken: Spoken<'_>) -> Done {
        let talk = spoken.talk;
        let message = talk.message();
        self.count_usage(
            &spoken.session,
            &spoken.chain,
            message,
            spoken.at,
            spoken.line,
            &mut spoken.load,
        )
        .await?;
        if spoken.chain == MAIN {
            let calls = self.session(&spoken.session).given_up(message.id);
            for call in calls {
                self.give_up(&spoken.session, call, spoken.line).await?;
            }
        }
        for (index, block) in talk.blocks.iter().enumerate() {
            self.part(&mut spoken, block, index, false).await?;
        }
        self.open_with_tokens(&spoken.session, &spoken.chain, message.id)
            .await?;
        self.leftover(spoken, "assistant");
        Ok(())
    }

    pub(super) async fn system(&mut self, talk: &Talk, text: &str, line: u64) -> Done {
        let subtype = talk.subtype.as_deref().unwrap_or_default();
        let said = tool::text_of(talk.content.as_deref());
        let is_boundary = subtype == "compact_boundary";
        if said.trim().is_empty() && !is_boundary {
            self.skip(&format!("system/{subtype}"), text);
            return Ok(());
        }
        let Some(mut spoken) = self.spoken(talk, text, line).await? else {
            return Ok(());
        };
        spoken.no_tokens();
        let kind = if is_boundary {
            FrameKind::Checkpoint
        } else {
            FrameKind::SystemState
        };
        let data = FrameData {
            compaction: spoken.load.json(talk.compact_metadata.as_deref()),
            ..spoken.data()
        };
        let frame = map::text_frame(spoken.pipeline, kind, &said, data);
        let unit = spoken.unit(map::program(), frame, 0);
        self.context(&spoken.session, &spoken.chain, unit).await
    }

    pub(super) async fn attachment(&mut self, talk: &Talk, text: &str, line: u64) -> Done {
        let Some(part) = map::part(talk.attachment.as_deref()) else {
            self.skip("attachment", text);
            return Ok(());
        };
        let Some(mut spoken) = self.spoken(talk, text, line).await? else {
            return Ok(());
        };
        spoken.no_tokens();
        let frame = spoken.part_frame(FrameKind::SystemState, "attachment", Some(part));
        let unit = spoken.unit(map::program(), frame, 0);
        self.context(&spoken.session, &spoken.chain, unit).await
    }

    /// Reports what no part of the line took with it.
    fn leftover(&mut self, mut spoken: Spoken<'_>, kind: &str) {
        let load = spoken.load.take();
        if load.lines > 0 {
            self.skipped.add(&format!("{kind} without content"));
        }
        self.fields.add(&load.fields);
        for remark in load.remarks {
            self.remarks.add(remark, &self.file, spoken.line);
        }
    }
}
