//! A tool call with its result: the invocation, the patch set of an edit, and
//! the frame that the model saw.

use annals::Request;
use annals_domain::Timestamp;
use annals_domain::pipeline::FrameKind;
use annals_domain::run::{
    DiffFormat, IoFootprint, Payload, ProposePatchSet, RecordToolInvocation, RejectPatchSet,
    RequestToolCall, ToolStatus, TouchedFile,
};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::agent::Agent;
use super::batch::{Frame, ImportBatch, Load};
use super::commands::{self, By, FrameData};
use super::edit::{self, Access, FileUse};
use super::ids::{ChainIds, Ids, ToolIds};
use super::item::Entry;
use super::remark::Remark;
use super::session::PendingToolCall;
use super::texts::{self, NO_RESULT, said, text_of};
use crate::import::fields;

/// What came back from a tool.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    pub(super) entry: &'a Entry,
    pub(super) content: Option<&'a RawValue>,
    pub(super) is_error: bool,
    /// The tokens of what the model saw, if they were counted ahead.
    pub(super) tokens: Option<u64>,
    pub(super) at: Timestamp,
    pub(super) line: u64,
    pub(super) load: Load,
}

/// Everything about a call that its commands are made from.
struct Call<'a> {
    waiting: &'a PendingToolCall,
    answer: Option<&'a Answer<'a>>,
    ids: ToolIds,
    chain: ChainIds,
    status: ToolStatus,
    /// Whether another source told how it ended, of a call that is given up.
    is_told: bool,
    /// All texts of the result, which the model read as they are; none where it has no text.
    said: Option<String>,
    /// The result as text, as far as a summary needs it.
    result: String,
    /// The files that it names, and their names relative to the folder that it was called in.
    files: Vec<(FileUse, String)>,
    agent: &'static Agent,
}

/// A file that a call read or wrote.
#[derive(Debug)]
pub(super) struct Touched {
    pub(super) ids: ToolIds,
    /// The file's name, the same in all folders.
    pub(super) file: String,
    pub(super) access: Access,
    pub(super) worked: bool,
    /// The tool and the file, for people.
    pub(super) subject: String,
    pub(super) by: By,
    pub(super) line: u64,
}

/// What the batch of a call is made for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Of {
    pub(super) agent: &'static Agent,
    pub(super) ids: ToolIds,
    pub(super) chain: ChainIds,
}

/// The batch of a call that got its result, and the file that it is about.
pub(super) fn answered(
    waiting: PendingToolCall,
    answer: Answer<'_>,
    of: Of,
) -> (ImportBatch, Option<Touched>) {
    let line = answer.line;
    batch(waiting, Some(answer), of, (line, None))
}

/// The batch of a call that gets none any more, as `line` shows. Where another source told how it ended, it ended so:
/// that the recording has no result says nothing of it.
pub(super) fn given_up(
    mut waiting: PendingToolCall,
    of: Of,
    line: u64,
    told: Option<ToolStatus>,
) -> ImportBatch {
    waiting.load.remarks.push(Remark::NoResult);
    batch(waiting, None, of, (line, told)).0
}

/// The batch of a call that waits for its result, at the newest time of its session if it has none. Its lines and fields
/// are counted with the result.
pub(super) fn requested(waiting: &PendingToolCall, of: Of, newest: Timestamp) -> ImportBatch {
    let call = call(waiting, None, of, None);
    let by = By {
        actor: of.agent.agent(),
        at: waiting.at.unwrap_or(newest),
    };
    // A program may write a call before its arguments.
    let args = texts::json(waiting.input.as_deref());
    let args = args.filter(|args| args.compact().text() != "{}");
    let key = match &args {
        Some(_) => of.ids.requested(),
        None => of.ids.announced(),
    };
    let request = RequestToolCall::new(of.chain.run, call.tool())
        .with_id(of.ids.invocation)
        .with_io_footprint(call.footprint())
        .with_args(args);
    let mut request = by.request(request);
    request.correlation = script_of(waiting, of);
    let requests = vec![request];
    let name = waiting.id.clone();
    ImportBatch::new(key, name, requests, Load::default(), waiting.line)
}

/// The script's call that made a call. It is what the events of the call have in common.
fn script_of(waiting: &PendingToolCall, of: Of) -> Option<Uuid> {
    let script = waiting.origin.script.as_deref()?;
    Some(Ids::of(of.agent.key).tool(script).invocation.0)
}

fn batch(
    mut waiting: PendingToolCall,
    mut answer: Option<Answer<'_>>,
    of: Of,
    (line, told): (u64, Option<ToolStatus>),
) -> (ImportBatch, Option<Touched>) {
    let mut load = waiting.load.take();
    if let Some(answer) = &mut answer {
        load.add(answer.load.take());
    }
    let call = call(&waiting, answer.as_ref(), of, told);
    let mut commands: Vec<Request> = vec![call.by().request(call.invocation(&mut load))];
    if call.is_edit() {
        commands.extend(call.patch_set(&mut load));
    } else if (of.agent.edits)(&waiting.tool) {
        load.remarks.push(Remark::NoPath);
    }
    let frame = call.frame(&mut load);
    let (push, seen) = frame.map_or((None, None), |frame| (Some(frame.push), frame.seen));
    commands.extend(push.map(|push| call.by().request(push)));
    call.count_result(&mut load);
    for request in &mut commands {
        request.correlation = script_of(&waiting, of);
    }
    let batch = ImportBatch {
        key: call.ids.batch,
        name: waiting.id.clone(),
        requests: commands,
        seen,
        tokens: answer.as_ref().and_then(|answer| answer.tokens),
        model: waiting.model.clone(),
        load,
        line,
    };
    (batch, call.touched(line))
}

fn call<'a>(
    waiting: &'a PendingToolCall,
    answer: Option<&'a Answer<'a>>,
    of: Of,
    told: Option<ToolStatus>,
) -> Call<'a> {
    let files = (of.agent.files)(&waiting.tool, waiting.input.as_deref());
    let named = |file: FileUse| {
        let name = file.relative(waiting.cwd.as_deref());
        (file, name)
    };
    let said = answer.and_then(|answer| said(answer.content));
    let result = match (answer, &said) {
        (Some(_), Some(said)) => texts::beginning(said, texts::SUMMARY).to_owned(),
        (Some(answer), None) => text_of(answer.content),
        (None, _) => NO_RESULT.to_owned(),
    };
    let worked = answer.is_some_and(|answer| !answer.is_error);
    Call {
        waiting,
        answer,
        ids: of.ids,
        chain: of.chain,
        status: match (worked, told) {
            (true, _) => ToolStatus::Ok,
            (false, told) => told.unwrap_or(ToolStatus::Error),
        },
        is_told: told.is_some(),
        said,
        result,
        files: files.into_iter().map(named).collect(),
        agent: of.agent,
    }
}

impl Call<'_> {
    fn by(&self) -> By {
        let at = self.answer.map(|answer| answer.at).or(self.waiting.at);
        By {
            actor: self.agent.agent(),
            at: at.unwrap_or(Timestamp::EPOCH),
        }
    }

    fn tool(&self) -> &str {
        self.waiting.tool()
    }

    /// The tool, and the first file that it is about.
    fn subject(&self) -> String {
        match self.files.first() {
            Some((_, name)) => format!("{} {name}", self.tool()),
            None => self.tool().to_owned(),
        }
    }

    fn is_edit(&self) -> bool {
        self.written().next().is_some()
    }

    fn written(&self) -> impl Iterator<Item = &(FileUse, String)> {
        let files = self.files.iter();
        files.filter(|(file, _)| file.access == Access::Write)
    }

    fn touched(&self, line: u64) -> Option<Touched> {
        let (file, _) = self.files.first()?;
        Some(Touched {
            ids: self.ids,
            file: file.absolute(self.waiting.cwd.as_deref()),
            access: file.access,
            worked: self.status == ToolStatus::Ok,
            subject: self.subject(),
            by: self.by(),
            line,
        })
    }

    /// The files that it names.
    fn footprint(&self) -> Option<IoFootprint> {
        let files = self.files.iter();
        edit::footprint(files.map(|(file, name)| (file.access, name.clone())))
    }

    fn invocation(&self, load: &mut Load) -> RecordToolInvocation {
        let args = load.json(self.waiting.input.as_deref());
        let summary = texts::beginning(&self.result, texts::SUMMARY).to_owned();
        RecordToolInvocation::new(self.chain.run, self.tool(), self.status)
            .with_id(self.ids.invocation)
            .with_io_footprint(self.footprint())
            .with_args(args)
            .with_duration_ms(self.duration_ms())
            .with_result_summary((!self.is_told).then_some(summary))
    }

    /// How long it took: as the tool itself says, or else between the lines of
    /// the call and of its result.
    fn duration_ms(&self) -> Option<u64> {
        let details = self.answer?.entry.details.as_ref();
        let said = details.and_then(|details| details.duration_ms);
        said.or_else(|| self.between_lines_ms())
    }

    fn between_lines_ms(&self) -> Option<u64> {
        let took = self.answer?.entry.at?.to_utc() - self.waiting.at?.to_utc();
        u64::try_from(took.num_milliseconds()).ok()
    }

    /// What the recording has of the result in addition to what the model saw.
    fn details(&self) -> Option<&RawValue> {
        let details = self.answer?.entry.details.as_ref()?;
        Some(&details.raw)
    }

    fn patch_set(&self, load: &mut Load) -> Vec<Request> {
        let patch = (self.agent.patch)(self.details());
        let (mut diff, mut touched, mut is_made) = (Some(Vec::new()), Vec::new(), false);
        for (file, name) in self.written() {
            let change = edit::change(name, &file.texts, &patch);
            is_made |= change.made;
            let counted = change.lines.added + change.lines.deleted > 0;
            touched.push(
                TouchedFile::new(name.clone(), change.change_type)
                    .with_lines_added(change.lines.added)
                    .with_lines_deleted(change.lines.deleted),
            );
            match (change.diff, &mut diff) {
                (Some(more), Some(diff)) => diff.extend(more),
                (None, diff) if counted => *diff = None,
                _ => {}
            }
        }
        if is_made {
            load.remarks.push(Remark::DiffMade);
            load.fields
                .inferred("patch_set.diff (from the call's texts)");
        }
        diff = diff.filter(|diff| diff.len() <= edit::DIFF_LIMIT);
        if diff.is_none() {
            load.remarks.push(Remark::DiffTooLarge);
        }
        let propose = ProposePatchSet::new(self.chain.run, DiffFormat::Unified)
            .with_id(self.ids.patch_set)
            .with_diff(diff.filter(|diff| !diff.is_empty()).map(Payload))
            .with_touched(touched)
            .with_observed(true);
        let mut requests = vec![self.by().request(propose)];
        // Of a call without a result it is not known whether it changed anything.
        if self.status == ToolStatus::Error {
            requests.push(
                self.by().request(
                    RejectPatchSet::new(self.ids.patch_set)
                        .with_reason(texts::beginning(&self.result, texts::SUMMARY).to_owned()),
                ),
            );
        }
        requests
    }

    /// What the model saw of the result; nothing, if there is none.
    fn frame(&self, load: &mut Load) -> Option<Frame> {
        let answer = self.answer?;
        let content = load.json(answer.content);
        let is_left_out = content.is_none() && answer.content.is_some();
        let kind = match self.status {
            ToolStatus::Error => FrameKind::ErrorRecovery,
            ToolStatus::Ok if self.is_edit() => FrameKind::CodeChange,
            ToolStatus::Ok => FrameKind::ToolCall,
        };
        let data = FrameData {
            line: Some(&answer.entry.name),
            parent_line: answer.entry.parent.as_deref(),
            message: Some(&self.waiting.message),
            tool_use: Some(&self.waiting.id),
            tool_use_line: Some(&self.waiting.line_name),
            tool_use_after: self.waiting.place.as_ref(),
            tool_use_at: self
                .waiting
                .at
                .filter(|_| self.duration_ms() != self.between_lines_ms()),
            origin: Some(&self.waiting.origin),
            left_out: is_left_out.then_some(commands::LEFT_OUT),
            ..FrameData::default()
        };
        let summary = format!("{}: {}", self.subject(), self.result);
        let seen = self.said.clone();
        let seen = seen.filter(|_| self.waiting.origin.script.is_none());
        Some(commands::frame(
            self.chain.pipeline,
            kind,
            &summary,
            data,
            content,
            seen,
        ))
    }

    /// Counts what the recording knows of the result beyond what the model saw.
    fn count_result(&self, load: &mut Load) {
        let Some(details) = self.answer.and_then(|answer| answer.entry.details.as_ref()) else {
            return;
        };
        let table = match self.is_edit() {
            true => details.edit_table,
            false => details.table,
        };
        fields::count(
            details.raw.get(),
            details.path,
            table,
            &[],
            &mut load.fields,
        );
    }
}
