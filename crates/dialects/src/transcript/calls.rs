//! Tool calls on their way from the call to the result.

use annals::ViewError;
use annals::projections::Status;
use annals_domain::pipeline::FrameKind;
use annals_domain::run::ToolStatus;
use annals_domain::{AnyEvent, run};
use serde_json::value::RawValue;

use super::claim::Claim;
use super::commands::{self, FrameData};
use super::decisions;
use super::ids::ToolIds;
use super::importer::{Done, Importer};
use super::item::{Item, What};
use super::place::Spoken;
use super::remark::Remark;
use super::session::{Heard, PendingToolCall};
use super::texts;
use super::tool::{self, Answer, Of};
use crate::import::error::ImportError;
use crate::import::fields;

/// At most so many tool calls of a session wait, and so many bytes of them;
/// then the oldest ones are given up.
const WAITING: (usize, usize) = (4_096, 64 * 1024 * 1024);

impl Importer<'_> {
    pub(super) async fn tool_use(&mut self, spoken: &mut Spoken<'_>, item: &Item) -> Done {
        let What::ToolCall {
            id,
            name,
            input,
            input_path,
        } = &item.what
        else {
            return Ok(());
        };
        let entry = spoken.entry;
        let lost: &[&str] = match texts::is_too_long(input.as_deref()) {
            true => &[input_path],
            false => &[],
        };
        item.count(lost, &mut spoken.load.fields);
        let chain = self.session(&spoken.session).chain(&spoken.chain);
        let place = Some(chain.place.read_call());
        let waiting = PendingToolCall {
            id: id.clone(),
            tool: name.clone(),
            input: input.clone(),
            line_name: entry.name.clone(),
            message: entry.message().to_owned(),
            model: entry.model.clone(),
            at: entry.at,
            place,
            cwd: entry
                .setting
                .as_ref()
                .and_then(|setting| setting.cwd.clone()),
            origin: entry.origin.clone(),
            chain: spoken.chain.clone(),
            doubted: false,
            line: spoken.line,
            load: spoken.load.take(),
        };
        self.wait(&spoken.session, waiting).await
    }

    /// Lets a call wait for its result. A call that is read twice waits once.
    pub(super) async fn wait(&mut self, session: &str, waiting: PendingToolCall) -> Done {
        let own = self.session(session);
        if let Some(before) = own.waiting.iter_mut().find(|call| call.id == waiting.id) {
            before.doubted = false;
            if before.is_like(&waiting) {
                self.report.already_there += waiting.load.lines;
            } else {
                self.conflict(&waiting.id, waiting.line);
            }
            return Ok(());
        }
        self.open_with(session, &waiting).await?;
        let own = self.session(session);
        own.waiting.push(waiting);
        let bytes: usize = own.waiting.iter().map(PendingToolCall::size).sum();
        if own.waiting.len() <= WAITING.0 && bytes <= WAITING.1 {
            return Ok(());
        }
        let oldest = own.waiting.remove(0);
        let line = oldest.line;
        self.give_up(session, oldest, line).await
    }

    pub(super) async fn give_up(
        &mut self,
        session: &str,
        call: PendingToolCall,
        line: u64,
    ) -> Done {
        let name = call.chain.clone();
        let of = self.made_of(session, &call);
        let told = self.told_end(of.ids).await?;
        self.work(session, &name, tool::given_up(call, of, line, told))
            .await
    }

    /// How a call ended that another source told of, and no recording yet.
    async fn told_end(&mut self, ids: ToolIds) -> Result<Option<ToolStatus>, ImportError> {
        if self.is_known(ids.batch).await? {
            return Ok(None);
        }
        self.settle_for(ids.invocation).await?;
        match self.annals.index().row(ids.invocation).await {
            Ok(row) => Ok(match row.status {
                Some(Status::Ok) => Some(ToolStatus::Ok),
                Some(Status::Error) => Some(ToolStatus::Error),
                _ => None,
            }),
            Err(ViewError::NotFound { .. }) => Ok(None),
            Err(error) => Err(ImportError::View(Box::new(error))),
        }
    }

    /// What the batch of a call is made for.
    fn made_of(&mut self, session: &str, call: &PendingToolCall) -> Of {
        Of {
            agent: self.agent,
            ids: self.ids.tool(&call.id),
            chain: self.session(session).chain(&call.chain).ids,
        }
    }

    pub(super) async fn answer(&mut self, spoken: &mut Spoken<'_>, item: &Item) -> Done {
        let What::ToolResult {
            call: id,
            content,
            is_error,
            content_path,
            error_path,
        } = &item.what
        else {
            return Ok(());
        };
        let content = content.as_deref();
        let mut lost = Vec::new();
        if texts::is_too_long(content) {
            lost.push(*content_path);
        }
        let session = self.session(&spoken.session);
        let call = session.answered(id);
        let heard = session.hear(id, content.map_or("", RawValue::get));
        let odd = if self.was_given_up(id).await? {
            Some(Remark::LateResult)
        } else if heard == Heard::Another && call.is_none() {
            Some(Remark::AnotherResult)
        } else {
            None
        };
        let waiting = match call {
            Some(call) if odd.is_none() => call,
            call => {
                // A call that was given up is in the log, as it was then.
                self.report.already_there += call.map_or(0, |call| call.load.lines);
                lost.push(*error_path);
                item.count(&lost, &mut spoken.load.fields);
                return self.unasked(spoken, id, odd, content, item).await;
            }
        };
        item.count(&lost, &mut spoken.load.fields);
        let answer = Answer {
            entry: spoken.entry,
            content,
            is_error: *is_error,
            tokens: item.tokens,
            at: spoken.at,
            line: spoken.line,
            load: spoken.load.take(),
        };
        let name = waiting.chain.clone();
        let of = self.made_of(&spoken.session, &waiting);
        let (batch, touched) = tool::answered(waiting, answer, of);
        match touched.filter(|_| heard == Heard::First) {
            Some(touched) => {
                self.touch(&spoken.session, &name, batch, &touched).await?;
            }
            None => self.work(&spoken.session, &name, batch).await?,
        }
        match decisions::batch(spoken, id, &of) {
            // What could not be recorded was not decided on.
            Some(decided) if self.is_known(of.ids.batch).await? => self.once(decided).await,
            _ => Ok(()),
        }
    }

    /// A result whose call was not read, was given up, or was recorded before
    /// with its result. A frame keeps it, unless it is the recorded one.
    async fn unasked(
        &mut self,
        spoken: &mut Spoken<'_>,
        tool_use: &str,
        odd: Option<Remark>,
        content: Option<&RawValue>,
        item: &Item,
    ) -> Done {
        if odd.is_none()
            && let Some(batch) = self.known(self.ids.tool(tool_use).batch).await?
        {
            let lines = spoken.load.take().lines;
            let whole = texts::json(content);
            let claim = Claim::Frame {
                summary: None,
                content: whole.as_ref(),
            };
            if self.holds(&[claim], batch).await? {
                self.report.already_there += lines;
            } else {
                self.conflict(tool_use, spoken.line);
            }
            return Ok(());
        }
        let remark = odd.unwrap_or(Remark::ResultWithoutUse);
        spoken.load.remarks.push(remark);
        if let Some(details) = &spoken.entry.details {
            let fields = &mut spoken.load.fields;
            fields::count(
                details.raw.get(),
                details.path,
                fields::NOTHING,
                &[],
                fields,
            );
        }
        let whole = spoken.load.json(content);
        let is_left_out = content.is_some() && whole.is_none();
        let data = FrameData {
            tool_use: Some(tool_use),
            left_out: is_left_out.then_some(commands::LEFT_OUT),
            ..spoken.data()
        };
        let (kind, text) = (FrameKind::ToolCall, texts::text_of(content));
        let seen = texts::said(content);
        let frame = commands::frame(spoken.pipeline, kind, &text, data, whole, seen);
        let batch = spoken.batch(self.agent.agent(), frame, item);
        self.context(&spoken.session, &spoken.chain, batch).await
    }

    /// Whether the log has a call as one that was given up, now or by an
    /// earlier import. Its invocation says so, which costs the same however
    /// much there is in its run.
    async fn was_given_up(&mut self, tool_use: &str) -> Result<bool, ImportError> {
        let ids = self.ids.tool(tool_use);
        if !self.is_known(ids.batch).await? {
            return Ok(false);
        }
        self.settle_for(ids.invocation).await?;
        let failed = |error| ImportError::View(Box::new(error));
        match self.annals.index().row(ids.invocation).await {
            // One that ended otherwise was given up only if another source told of that end.
            Ok(row) if row.status == Some(Status::Error) || row.events > 1 => {}
            Ok(_) | Err(ViewError::NotFound { .. }) => return Ok(false),
            Err(error) => return Err(failed(error)),
        }
        // A hook may have told of the call before.
        let events = self.annals.index().events_of_call(ids.invocation).await;
        for position in events.map_err(|error| failed(error.into()))? {
            let Some(record) = self.annals.contents().record(position).await? else {
                continue;
            };
            let entry = self.annals.contents().entry(&record).await;
            let entry = entry.map_err(|error| failed(error.into()))?;
            if let AnyEvent::Run(run::Event::ToolInvoked(event)) = &entry.event {
                let summary = event.result_summary.map(|slot| entry.text(slot));
                return Ok(summary.is_none_or(|text| text.as_str() == Some(texts::NO_RESULT)));
            }
        }
        Ok(false)
    }
}
