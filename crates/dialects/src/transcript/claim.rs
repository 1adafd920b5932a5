//! What a batch says that the log may have an event of already.

use annals::Request;
use annals_domain::pipeline::PushFrame;
use annals_domain::run::{ProposePatchSet, RecordToolInvocation, ToolStatus};
use annals_domain::{Command, Json};

use super::batch::ImportBatch;
use super::texts::NO_RESULT;

/// What a recording says that a log has an event of.
#[derive(Debug)]
pub(super) enum Claim<'a> {
    Prompt(&'a str),
    /// A frame; where only its content counts, without a summary.
    Frame {
        summary: Option<&'a str>,
        content: Option<&'a Json>,
    },
    Call(Call<'a>),
    /// An edit's diff, as the recording has it or made from the call, and the call.
    Diff {
        diff: Option<&'a [u8]>,
        of: &'a ProposePatchSet,
        tool: &'a str,
        args: Option<&'a Json>,
        is_made: bool,
    },
}

/// A tool call, as far as it was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) tool: &'a str,
    pub(super) args: Option<&'a Json>,
    /// Nothing, if its result was not read.
    pub(super) result: Option<(ToolStatus, &'a str)>,
}

impl ImportBatch {
    /// What it says that the log may have under its key.
    pub(super) fn claims(&self) -> Vec<Claim<'_>> {
        let call = self.requests.iter().find_map(|it| match &it.command {
            Command::RecordToolInvocation(call) => Some(call),
            _ => None,
        });
        let is_made = self.load.is_diff_made();
        let requests = self.requests.iter();
        requests.filter_map(|it| claim(it, call, is_made)).collect()
    }
}

fn claim<'a>(
    request: &'a Request,
    call: Option<&'a RecordToolInvocation>,
    is_made: bool,
) -> Option<Claim<'a>> {
    match &request.command {
        Command::CreateIntent(intent) => Some(Claim::Prompt(&intent.prompt)),
        Command::RecordToolInvocation(call) => Some(Claim::Call(said_of(call))),
        // A call's summary has its path in it, by the folder that the line was written in.
        Command::PushFrame(push) => Some(frame(push, call.is_none())),
        Command::ProposePatchSet(patch) => Some(Claim::Diff {
            diff: patch.diff.as_ref().map(|diff| diff.0.as_slice()),
            of: patch,
            tool: call.map_or("", |call| call.tool_name.as_str()),
            args: call.and_then(|call| call.args.as_ref()),
            is_made,
        }),
        _ => None,
    }
}

fn frame(push: &PushFrame, whole: bool) -> Claim<'_> {
    Claim::Frame {
        summary: whole.then_some(push.summary.as_str()),
        content: push.content.as_ref(),
    }
}

fn said_of(call: &RecordToolInvocation) -> Call<'_> {
    let result = call.result_summary.as_deref();
    Call {
        tool: &call.tool_name,
        args: call.args.as_ref(),
        result: result
            .filter(|text| *text != NO_RESULT)
            .map(|text| (call.status, text)),
    }
}
