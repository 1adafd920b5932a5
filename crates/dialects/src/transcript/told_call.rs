//! A tool call's life as its agent tells of it, in commands.

use annals::Request;
use annals_domain::run::{
    BeginToolCall, DecideToolCall, EndToolCall, FileInForce, RequestToolCall, ToolStatus,
};
use annals_domain::{ContentPart, Payload, RunId, Timestamp, ToolInvocationId};
use serde_json::value::RawValue;

use super::agent::Agent;
use super::commands::By;
use super::edit;
use super::telling::{CallStep, CallTold, Decided, FileSays};
use super::texts;
use crate::import::RedactedText;

/// What the commands of a call are made of.
pub(super) struct Of<'a> {
    pub(super) agent: &'static Agent,
    pub(super) run: RunId,
    pub(super) call: ToolInvocationId,
    pub(super) told: &'a CallTold,
    pub(super) at: Timestamp,
    pub(super) cwd: Option<&'a str>,
}

impl Of<'_> {
    /// The commands for all that was told.
    pub(super) fn requests(&self) -> Vec<Request> {
        self.told
            .steps
            .iter()
            .map(|step| self.request(step))
            .collect()
    }

    fn request(&self, step: &CallStep) -> Request {
        let by = self.by(self.at);
        match step {
            CallStep::Requested { args } => by.request(self.requested(args.as_deref())),
            CallStep::Decided(decided) => by.request(self.decided(decided)),
            CallStep::Begun { ms_before } => {
                let before = i64::try_from(*ms_before).unwrap_or_default();
                let before = chrono::Duration::try_milliseconds(before).unwrap_or_default();
                let at = self.at.to_utc().checked_sub_signed(before);
                let by = self.by(at.map_or(self.at, Timestamp::from));
                by.request(BeginToolCall::new(self.run, self.call).with_tool_name(self.tool()))
            }
            CallStep::Ended {
                worked,
                duration_ms,
                failure,
                result,
            } => {
                let status = match worked {
                    true => ToolStatus::Ok,
                    false => ToolStatus::Error,
                };
                let ended = self.ended(status, failure.as_deref(), result.as_deref());
                by.request(ended.with_duration_ms(*duration_ms))
            }
        }
    }

    fn by(&self, at: Timestamp) -> By {
        By {
            actor: self.agent.agent(),
            at,
        }
    }

    fn tool(&self) -> String {
        match self.told.tool.trim() {
            "" => "(unnamed)".to_owned(),
            tool => tool.to_owned(),
        }
    }

    fn requested(&self, args: Option<&str>) -> RequestToolCall {
        let raw = args.and_then(|args| RawValue::from_string(args.to_owned()).ok());
        let files = (self.agent.files)(&self.told.tool, raw.as_deref());
        let files = files.iter();
        let footprint = edit::footprint(files.map(|file| (file.access, file.relative(self.cwd))));
        RequestToolCall::new(self.run, self.tool())
            .with_id(self.call)
            .with_io_footprint(footprint)
            .with_args(texts::json(raw.as_deref()))
    }

    fn decided(&self, decided: &Decided) -> DecideToolCall {
        let in_force = decided.in_force.as_ref().map(|files| {
            let files = files.iter().map(|(path, says)| {
                let file = FileInForce::new(path.to_string());
                match says {
                    FileSays::Content(content) => {
                        file.with_content(Payload(content.as_bytes().to_vec()))
                    }
                    FileSays::Hash(hash) => file.with_hash(*hash),
                }
            });
            files.collect::<Vec<_>>()
        });
        DecideToolCall::new(self.run, self.call, decided.verdict, decided.by)
            .with_tool_name(self.tool())
            .with_by_name(owned(decided.by_name.as_ref()))
            .with_source(owned(decided.source.as_ref()))
            .with_scope(decided.scope)
            .with_grant(decided.grant)
            .with_inferred(decided.is_inferred)
            .with_reason(owned(decided.reason.as_ref()))
            .with_permission_mode(owned(decided.mode.as_ref()))
            .with_in_force(in_force)
    }

    fn ended(
        &self,
        status: ToolStatus,
        failure: Option<&str>,
        result: Option<&str>,
    ) -> EndToolCall {
        let raw = result.and_then(|result| RawValue::from_string(result.to_owned()).ok());
        let said = match (&raw, result) {
            (Some(raw), _) => texts::said(Some(raw)).unwrap_or_else(|| raw.get().to_owned()),
            (None, result) => result.unwrap_or_default().to_owned(),
        };
        let summary = texts::beginning(said.trim(), texts::SUMMARY);
        let summary = (!summary.is_empty()).then(|| summary.to_owned());
        let name = match &raw {
            Some(_) => "response.json",
            None => "response.txt",
        };
        // What the summary has is all of it.
        let output = result.filter(|result| result.len() > summary.as_ref().map_or(0, String::len));
        let output = output.map(|result| ContentPart::new(name, result));
        let failure = failure.map(|text| texts::beginning(text, texts::SUMMARY).to_owned());
        EndToolCall::new(self.run, self.call, status)
            .with_tool_name(self.tool())
            .with_result_summary(summary)
            .with_failure(failure)
            .with_output(output.into_iter().collect::<Vec<_>>())
    }
}

fn owned(text: Option<&RedactedText>) -> Option<String> {
    text.map(|text| text.to_string())
}
