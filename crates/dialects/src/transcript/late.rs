//! A result whose call an earlier import read. A call that waits for it goes on; one that was given up ends with it, and its
//! edit counts.

use annals::ViewError;
use annals::projections::{Entry, PieceValue, Status, Text};
use annals_domain::run::{
    self, EndToolCall, PatchSetProposed, ProposePatchSet, ToolStatus, TouchedFile,
};
use annals_domain::{AnyEvent, Command, Payload, RunId, ToolInvocationId};
use annals_event_log::Position;
use serde_json::value::RawValue;

use super::batch::Load;
use super::importer::Importer;
use super::item::Item;
use super::place::Spoken;
use super::session::PendingToolCall;
use super::texts;
use crate::import::error::ImportError;

/// What tells the ids of a late result's edit from those of the call, which have a rejected patch set.
const LATE: &str = "late result";

/// A call that was given up without a result.
#[derive(Debug, Clone)]
pub(super) struct GivenUp {
    id: String,
    run: RunId,
    call: ToolInvocationId,
    /// The first event of the batch that gave it up, and the last.
    batch: (Position, Position),
    /// Whether the log has its end all the same: from another source, or from a result that came later.
    pub(super) has_end: bool,
}

impl GivenUp {
    /// Its end, as its result says.
    fn ended(&self, status: ToolStatus, content: Option<&RawValue>) -> EndToolCall {
        let text = texts::said(content).unwrap_or_else(|| texts::text_of(content));
        let text = texts::beginning(&text, texts::SUMMARY).to_owned();
        EndToolCall::new(self.run, self.call, status)
            .with_failure((status == ToolStatus::Error).then(|| text.clone()))
            .with_result_summary(text)
    }
}

impl Importer<'_> {
    /// A call that the log has as one that was given up, now or by an
    /// earlier import. Its invocation says so, which costs the same however
    /// much there is in its run.
    pub(super) async fn given_up_before(
        &mut self,
        tool_use: &str,
    ) -> Result<Option<GivenUp>, ImportError> {
        let ids = self.ids.tool(tool_use);
        if !self.is_known(ids.batch).await? {
            return Ok(None);
        }
        self.settle_for(ids.invocation).await?;
        match self.annals.index().row(ids.invocation).await {
            // One that ended otherwise was given up only if another source told of that end.
            Ok(row) if row.status == Some(Status::Error) || row.events > 1 => {}
            Ok(_) | Err(ViewError::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(failed(error)),
        }
        let (mut run, mut has_end) = (None, false);
        // A hook may have told of the call before.
        let events = self.annals.index().events_of_call(ids.invocation).await;
        for position in events.map_err(failed)? {
            let Some(entry) = self.entry_at(position).await? else {
                continue;
            };
            match &entry.event {
                AnyEvent::Run(run::Event::ToolInvoked(event)) => {
                    let summary = event.result_summary.map(|slot| entry.text(slot));
                    if summary.is_some_and(|text| text.as_str() != Some(texts::NO_RESULT)) {
                        return Ok(None);
                    }
                    run = Some(RunId(entry.stream.id));
                }
                AnyEvent::Run(run::Event::ToolEnded(_)) => has_end = true,
                _ => {}
            }
        }
        let batch = self.known(ids.batch).await?;
        Ok(run.zip(batch).map(|(run, batch)| GivenUp {
            id: tool_use.to_owned(),
            run,
            call: ids.invocation,
            batch: (batch.first, batch.last),
            has_end,
        }))
    }

    /// A call that an earlier import requested, and that has no result yet: another file of its session had it.
    pub(super) async fn requested_before(
        &mut self,
        spoken: &Spoken<'_>,
        tool_use: &str,
        item: &Item,
    ) -> Result<Option<PendingToolCall>, ImportError> {
        let ids = self.ids.tool(tool_use);
        // A result that was recorded without its call stays so.
        let frame = self.ids.frame_batch(&spoken.entry.name, item.frame);
        if self.is_known(ids.batch).await? || self.is_known(frame).await? {
            return Ok(None);
        }
        for key in [ids.requested(), ids.announced()] {
            let Some(logged) = self.known(key).await? else {
                continue;
            };
            let Some(entry) = self.entry_at(logged.first).await? else {
                continue;
            };
            let AnyEvent::Run(run::Event::ToolRequested(event)) = &entry.event else {
                continue;
            };
            // The result of a fork is none of the session that it was forked from.
            let own = self.session(&spoken.session).chain(&spoken.chain).ids.run;
            // Nor is one that comes before its call, which this file has behind it.
            if entry.stream.id != own.0 || entry.occurred_at > spoken.at {
                return Ok(None);
            }
            let args = event.args.map(|slot| entry.text(slot));
            let args = args.as_ref().and_then(Text::as_str).map(str::to_owned);
            return Ok(Some(PendingToolCall {
                id: tool_use.to_owned(),
                tool: entry.text(event.tool_name).to_string(),
                input: args.and_then(|args| RawValue::from_string(args).ok()),
                line_name: spoken.entry.parent.clone().unwrap_or_default(),
                message: String::new(),
                model: None,
                at: Some(entry.occurred_at),
                place: None,
                cwd: spoken.entry.setting.as_ref().and_then(|it| it.cwd.clone()),
                origin: spoken.entry.origin.clone(),
                chain: spoken.chain.clone(),
                doubted: false,
                is_requested: true,
                line: spoken.line,
                load: Load::default(),
            }));
        }
        Ok(None)
    }

    /// The commands by which a call that was given up ends with its result.
    pub(super) async fn late_result(
        &self,
        given_up: GivenUp,
        is_error: bool,
        content: Option<&RawValue>,
    ) -> Result<Vec<Command>, ImportError> {
        let status = match is_error {
            true => ToolStatus::Error,
            false => ToolStatus::Ok,
        };
        let mut commands = vec![given_up.ended(status, content).into()];
        if status == ToolStatus::Ok {
            commands.extend(self.patch_sets_again(&given_up).await?);
        }
        Ok(commands)
    }

    /// The edits of a call, which were rejected as it was not known whether they were made.
    async fn patch_sets_again(&self, given_up: &GivenUp) -> Result<Vec<Command>, ImportError> {
        let (first, last) = given_up.batch;
        let mut again = Vec::new();
        for position in first.0..=last.0 {
            let Some(entry) = self.entry_at(Position(position)).await? else {
                continue;
            };
            if let AnyEvent::Run(run::Event::PatchSetProposed(event)) = &entry.event
                && let Some(touched) = touched(event, &entry)
            {
                let diff = self.diff_of(event, &entry).await?;
                let propose = ProposePatchSet::new(given_up.run, event.format)
                    .with_id(self.ids.tool_again(&given_up.id, LATE, "").patch_set)
                    .with_diff(diff)
                    .with_touched(touched)
                    .with_observed(true);
                again.push(propose.into());
            }
        }
        Ok(again)
    }

    async fn diff_of(
        &self,
        event: &PatchSetProposed,
        entry: &Entry,
    ) -> Result<Option<Payload>, ImportError> {
        let artifact = event.artifact.as_ref().and_then(|it| it.content);
        let piece = artifact.and_then(|slot| entry.pieces.get(usize::from(slot.0)));
        let bytes = match piece {
            Some(PieceValue::Bytes(bytes)) => Some(bytes.clone()),
            Some(PieceValue::Attachment { digest, .. }) => self.annals.log().blob(*digest).await?,
            Some(PieceValue::Removed) | None => None,
        };
        Ok(bytes.map(|bytes| Payload(bytes.to_vec())))
    }

    async fn entry_at(&self, position: Position) -> Result<Option<Entry>, ImportError> {
        let Some(record) = self.annals.contents().record(position).await? else {
            return Ok(None);
        };
        let entry = self.annals.contents().entry(&record).await;
        entry.map(Some).map_err(failed)
    }
}

fn failed(error: impl Into<ViewError>) -> ImportError {
    ImportError::View(Box::new(error.into()))
}

/// The files of a patch set; `None` if a path was removed.
fn touched(event: &PatchSetProposed, entry: &Entry) -> Option<Vec<TouchedFile>> {
    let touched = event.touched.iter().map(|file| {
        let path = entry.text(file.path);
        let touched = TouchedFile::new(path.as_str()?, file.change_type)
            .with_lines_added(file.lines_added)
            .with_lines_deleted(file.lines_deleted);
        Some(touched)
    });
    touched.collect()
}
