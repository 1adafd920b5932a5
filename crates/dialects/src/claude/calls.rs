//! Tool calls on their way from the call to the result.

use annals_domain::pipeline::FrameKind;
use serde_json::value::RawValue;

use super::fields;
use super::ids::{self, ToolIds};
use super::importer::{Done, Importer};
use super::line::{Block, Part};
use super::map::{self, FrameData};
use super::remark::Remark;
use super::session::Waiting;
use super::spoken::{Spoken, count_block};
use super::tool::{self, Answer};

/// At most so many tool calls of a session wait, and so many bytes of them;
/// then the oldest ones are given up.
const WAITING: (usize, usize) = (4_096, 64 * 1024 * 1024);

impl Importer<'_> {
    pub(super) async fn tool_use(
        &mut self,
        spoken: &mut Spoken<'_>,
        block: &Block,
        index: usize,
    ) -> Done {
        let Part::ToolUse { id, name, input } = &block.part else {
            return Ok(());
        };
        let talk = spoken.talk;
        let lost: &[&str] = match (input, map::small(input.as_deref())) {
            (Some(_), None) => &["message.content[].input"],
            _ => &[],
        };
        count_block(block, fields::TOOL_USE, lost, &mut spoken.load);
        let id = match id.as_deref() {
            Some(id) if !id.trim().is_empty() => id.to_owned(),
            _ => format!("{}/{index}", talk.name()),
        };
        let message = talk.message();
        let waiting = Waiting {
            id,
            tool: name.clone(),
            input: input.clone(),
            line_name: talk.name().to_owned(),
            message: message.id.to_owned(),
            model: message.model.map(str::to_owned),
            at: talk.at(),
            cwd: talk.cwd.clone(),
            chain: spoken.chain.clone(),
            doubted: false,
            line: spoken.line,
            load: spoken.load.take(),
        };
        self.wait(&spoken.session, waiting).await
    }

    /// Lets a call wait for its result. A call that is read twice waits once.
    pub(super) async fn wait(&mut self, session: &str, waiting: Waiting) -> Done {
        let own = self.session(session);
        if let Some(before) = own.waiting.iter_mut().find(|call| call.id == waiting.id) {
            before.doubted = false;
            self.report.already_there += waiting.load.lines;
            return Ok(());
        }
        self.open_with(session, &waiting).await?;
        let own = self.session(session);
        own.waiting.push(waiting);
        let bytes: usize = own.waiting.iter().map(Waiting::size).sum();
        if own.waiting.len() <= WAITING.0 && bytes <= WAITING.1 {
            return Ok(());
        }
        let oldest = own.waiting.remove(0);
        let line = oldest.line;
        self.give_up(session, oldest, line).await
    }

    pub(super) async fn give_up(&mut self, session: &str, call: Waiting, line: u64) -> Done {
        let name = call.chain.clone();
        let ids = self.session(session).chain(&name).ids;
        self.work(session, &name, tool::given_up(call, ids, line))
            .await
    }

    pub(super) async fn answer(
        &mut self,
        spoken: &mut Spoken<'_>,
        block: &Block,
        index: usize,
    ) -> Done {
        let Part::ToolResult {
            tool_use,
            content,
            is_error,
        } = &block.part
        else {
            return Ok(());
        };
        let content = content.as_deref();
        let lost: &[&str] = match (content, map::small(content)) {
            (Some(_), None) => &["message.content[].content"],
            _ => &[],
        };
        count_block(block, fields::TOOL_RESULT, lost, &mut spoken.load);
        let id = tool_use.as_deref().unwrap_or_default();
        let Some(waiting) = self.session(&spoken.session).answered(id) else {
            return self.unasked(spoken, id, content, index).await;
        };
        let answer = Answer {
            talk: spoken.talk,
            content,
            is_error: *is_error,
            at: spoken.at,
            line: spoken.line,
            load: spoken.load.take(),
        };
        let name = waiting.chain.clone();
        let ids = self.session(&spoken.session).chain(&name).ids;
        let unit = tool::answered(waiting, answer, ids);
        self.work(&spoken.session, &name, unit).await
    }

    /// A result whose call was not read, or was recorded before.
    pub(super) async fn unasked(
        &mut self,
        spoken: &mut Spoken<'_>,
        tool_use: &str,
        content: Option<&RawValue>,
        index: usize,
    ) -> Done {
        if self.is_known(ToolIds::of(tool_use).batch).await? {
            self.report.already_there += spoken.load.take().lines;
            return Ok(());
        }
        spoken.load.remarks.push(Remark::ResultWithoutUse);
        let data = FrameData {
            tool_use: Some(tool_use),
            content: map::small(content),
            ..spoken.data()
        };
        let text = tool::text_of(content);
        let push = map::push(spoken.pipeline, FrameKind::ToolCall, &text, &data);
        let requests = vec![spoken.by(map::agent()).request(push)];
        let unit = spoken.unit(ids::frame_batch(spoken.talk.name(), index + 1), requests);
        self.context(&spoken.session, &spoken.chain, unit).await
    }
}
