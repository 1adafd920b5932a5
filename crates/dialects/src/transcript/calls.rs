//! Tool calls on their way from the call to the result.

use annals::projections::Status;
use annals::{KnownKey, ViewError};
use annals_domain::Command;
use annals_domain::pipeline::FrameKind;
use annals_domain::run::ToolStatus;
use serde_json::value::RawValue;

use super::claim::Claim;
use super::commands::{self, By, FrameData};
use super::decisions;
use super::ids::ToolIds;
use super::importer::{Done, Importer};
use super::item::{Item, What};
use super::place::Spoken;
use super::record::LoggedBatch;
use super::remark::Remark;
use super::session::{Heard, MAIN, PendingToolCall};
use super::texts;
use super::tool::{self, Answer, Of};
use crate::import::error::ImportError;
use crate::import::fields;

/// At most so many tool calls of a session wait, and so many bytes of them;
/// then the oldest ones are given up.
const WAITING: (usize, usize) = (4_096, 64 * 1024 * 1024);

/// A request that an earlier import recorded under the ids of a call.
#[derive(Debug, Clone, Copy)]
enum EarlierRequest {
    Same,
    /// Of another session.
    OfAnother,
    /// It asks for something else.
    Different,
}

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
            is_requested: false,
            line: spoken.line,
            load: spoken.load.take(),
        };
        self.wait(&spoken.session, waiting).await
    }

    /// Lets a call wait for its result. A call that is read twice waits once.
    pub(super) async fn wait(&mut self, session: &str, waiting: PendingToolCall) -> Done {
        let own = self.session(session);
        if waiting.chain != MAIN && !own.side_calls.contains_key(&waiting.id) {
            let (id, chain) = (waiting.id.clone(), waiting.chain.clone());
            own.side_calls.insert(id, chain);
        }
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
        let of = self.made_of_own(session, &call).await?;
        let told = self.told_end(of.ids).await?;
        self.work(session, &name, tool::given_up(call, of, line, told))
            .await
    }

    /// Records that the calls which wait for their results were made: where a recording pauses or ends before a result,
    /// its readers see the call.
    pub(super) async fn request_pending(&mut self, session: &str) -> Done {
        let mut waiting = std::mem::take(&mut self.session(session).waiting);
        let mut done = Ok(());
        for call in waiting.iter_mut().filter(|call| !call.is_requested) {
            done = self.request(session, call).await;
            if done.is_err() {
                break;
            }
            call.is_requested = true;
        }
        self.session(session).waiting = waiting;
        done
    }

    async fn request(&mut self, session: &str, call: &PendingToolCall) -> Done {
        let of = self.made_of(session, call);
        if self.is_known(of.ids.batch).await? {
            return Ok(());
        }
        let earlier = self.earlier_request(call, of).await?;
        let requested = tool::requested(call, of, self.session(session).at);
        let is_other = matches!(
            earlier,
            Some(EarlierRequest::OfAnother | EarlierRequest::Different)
        );
        if is_other || self.is_known(requested.key).await? {
            return Ok(());
        }
        self.new_batch(requested).await.map(|_| ())
    }

    /// The request that an earlier import recorded of a call. One that asks for something else is named as a conflict.
    async fn earlier_request(
        &mut self,
        call: &PendingToolCall,
        of: Of,
    ) -> Result<Option<EarlierRequest>, ImportError> {
        for key in [of.ids.requested(), of.ids.announced()] {
            let Some(KnownKey::InLog { first, last }) = self.bulk.knows(key).await? else {
                continue;
            };
            let record = self.annals.contents().record(first).await?;
            let run = annals_wire::stream_name(of.chain.run.stream());
            if record.is_some_and(|record| record.stream() != run.as_str()) {
                return Ok(Some(EarlierRequest::OfAnother));
            }
            let args = texts::json(call.input.as_deref());
            let claim = Claim::Call(call.asked(args.as_ref()));
            if self.holds(&[claim], LoggedBatch { first, last }).await? {
                return Ok(Some(EarlierRequest::Same));
            }
            self.conflict(&call.id, call.line);
            return Ok(Some(EarlierRequest::Different));
        }
        Ok(None)
    }

    /// What the batch of a call is made for, with ids of its own if an earlier import recorded a request under its ids
    /// that is not this call's: the log keeps that, and what is read now is not lost.
    async fn made_of_own(
        &mut self,
        session: &str,
        call: &PendingToolCall,
    ) -> Result<Of, ImportError> {
        let of = self.made_of(session, call);
        let ids = match self.earlier_request(call, of).await? {
            None | Some(EarlierRequest::Same) => of.ids,
            // A fork has the call of the session that it was forked from.
            Some(EarlierRequest::OfAnother) => self.ids.tool_again(&call.id, session, ""),
            Some(EarlierRequest::Different) => {
                let args = call.input.as_deref().map_or("", RawValue::get);
                self.ids.tool_again(&call.id, call.tool(), args)
            }
        };
        Ok(Of { ids, ..of })
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
        let given_up = self.given_up_before(id).await?;
        let odd = match &given_up {
            Some(given_up) if !given_up.has_end => Some(Remark::LateResult),
            Some(_) => Some(Remark::AnotherResult),
            None if heard == Heard::Another && call.is_none() => Some(Remark::AnotherResult),
            None => None,
        };
        let call = match call {
            // The session may have begun in a file that was imported before.
            None if odd.is_none() => self.requested_before(spoken, id, item).await?,
            call => call,
        };
        let waiting = match call {
            Some(call) if odd.is_none() => call,
            call => {
                // A call that was given up is in the log, as it was then.
                self.report.already_there += call.map_or(0, |call| call.load.lines);
                lost.push(*error_path);
                item.count(&lost, &mut spoken.load.fields);
                let late = given_up.filter(|it| !it.has_end);
                let late = match late {
                    Some(given_up) => self.late_result(given_up, *is_error, content).await?,
                    None => Vec::new(),
                };
                let odd = (odd, late);
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
        let of = self.made_of_own(&spoken.session, &waiting).await?;
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
    /// with its result. A frame keeps it, unless it is the recorded one. A call that was given up ends with its first result.
    async fn unasked(
        &mut self,
        spoken: &mut Spoken<'_>,
        tool_use: &str,
        (odd, late): (Option<Remark>, Vec<Command>),
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
        let mut batch = spoken.batch(self.agent.agent(), frame, item);
        let by = By {
            actor: self.agent.agent(),
            at: spoken.at,
        };
        // Before the frame, which is then read as the result of the call.
        let late = late.into_iter().map(|command| by.request(command));
        batch.requests.splice(0..0, late);
        self.context(&spoken.session, &spoken.chain, batch).await
    }
}
