//! A tool call with its result: the invocation, the patch set of an edit, and
//! the frame that the model saw.

use annals::Request;
use annals_domain::Timestamp;
use annals_domain::pipeline::FrameKind;
use annals_domain::run::{
    DiffFormat, IoFootprint, Payload, ProposePatchSet, RecordToolInvocation, RejectPatchSet,
    ToolStatus, TouchedFile,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::edit::{self, Access, Input};
use super::fields;
use super::ids::{ChainIds, ToolIds};
use super::line::Talk;
use super::map::{self, By, FrameData};
use super::remark::Remark;
use super::session::Waiting;
use super::unit::{Frame, Load, Unit};

/// What stands for a result that did not come.
pub(super) const NO_RESULT: &str = "(no result was recorded)";

/// What came back from a tool.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    pub(super) talk: &'a Talk,
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
    waiting: &'a Waiting,
    answer: Option<&'a Answer<'a>>,
    ids: ToolIds,
    chain: ChainIds,
    status: ToolStatus,
    /// The result as text, its beginning.
    result: String,
    /// The file that it names, and what it is to do with it.
    file: Option<(String, Access)>,
    input: Input,
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

/// The unit of a call that got its result, and the file that it is about.
pub(super) fn answered(
    waiting: Waiting,
    answer: Answer<'_>,
    chain: ChainIds,
) -> (Unit, Option<Touched>) {
    unit(waiting, Some(answer), chain, 0)
}

/// The unit of a call that gets none any more, as `line` shows.
pub(super) fn given_up(mut waiting: Waiting, chain: ChainIds, line: u64) -> Unit {
    waiting.load.remarks.push(Remark::NoResult);
    unit(waiting, None, chain, line).0
}

fn unit(
    mut waiting: Waiting,
    mut answer: Option<Answer<'_>>,
    chain: ChainIds,
    line: u64,
) -> (Unit, Option<Touched>) {
    let mut load = waiting.load.take();
    let line = answer.as_ref().map_or(line, |answer| answer.line);
    if let Some(answer) = &mut answer {
        load.add(answer.load.take());
    }
    let call = call(&waiting, answer.as_ref(), chain);
    let mut commands: Vec<Request> = vec![call.by().request(call.invocation(&mut load))];
    if let Some((path, Access::Write)) = &call.file {
        commands.extend(call.patch_set(path, &mut load));
    } else if edit::access(&waiting.tool).is_some_and(|(_, access)| access == Access::Write) {
        load.remarks.push(Remark::NoPath);
    }
    let frame = call.frame(&mut load);
    let (push, seen) = frame.map_or((None, None), |frame| (Some(frame.push), frame.seen));
    commands.extend(push.map(|push| call.by().request(push)));
    call.count_result(&mut load);
    let unit = Unit {
        key: call.ids.batch,
        name: waiting.id.clone(),
        requests: commands,
        seen,
        tokens: answer.as_ref().and_then(|answer| answer.tokens),
        model: waiting.model.clone(),
        load,
        line,
    };
    (unit, call.touched(line))
}

fn call<'a>(waiting: &'a Waiting, answer: Option<&'a Answer<'a>>, chain: ChainIds) -> Call<'a> {
    let input = Input::of(waiting.input.as_deref());
    let file = edit::access(&waiting.tool).and_then(|(field, access)| {
        let path = input.path(field, waiting.cwd.as_deref())?;
        Some((path, access))
    });
    let result = match answer {
        Some(answer) => text_of(answer.content),
        None => NO_RESULT.to_owned(),
    };
    let worked = answer.is_some_and(|answer| !answer.is_error);
    Call {
        waiting,
        answer,
        ids: ToolIds::of(&waiting.id),
        chain,
        status: if worked {
            ToolStatus::Ok
        } else {
            ToolStatus::Error
        },
        result,
        file,
        input,
    }
}

impl Call<'_> {
    fn by(&self) -> By {
        let at = self.answer.map(|answer| answer.at).or(self.waiting.at);
        By {
            actor: map::agent(),
            at: at.unwrap_or(Timestamp::EPOCH),
        }
    }

    fn tool(&self) -> &str {
        self.waiting.tool()
    }

    /// The tool, and the file that it is about.
    fn subject(&self) -> String {
        match &self.file {
            Some((path, _)) => format!("{} {path}", self.tool()),
            None => self.tool().to_owned(),
        }
    }

    fn touched(&self, line: u64) -> Option<Touched> {
        let (field, access) = edit::access(&self.waiting.tool)?;
        Some(Touched {
            ids: self.ids,
            file: self.input.place(field, self.waiting.cwd.as_deref())?,
            access,
            worked: self.status == ToolStatus::Ok,
            subject: self.subject(),
            by: self.by(),
            line,
        })
    }

    fn invocation(&self, load: &mut Load) -> RecordToolInvocation {
        let args = load.json(self.waiting.input.as_deref());
        let mut footprint = IoFootprint::default();
        match &self.file {
            Some((path, Access::Read)) => footprint.paths_read.push(path.clone()),
            Some((path, Access::Write)) => footprint.paths_written.push(path.clone()),
            None => {}
        }
        RecordToolInvocation {
            run: self.chain.run,
            id: Some(self.ids.invocation),
            tool_name: self.tool().to_owned(),
            io_footprint: self.file.is_some().then_some(footprint),
            args,
            status: self.status,
            duration_ms: self.duration_ms(),
            result_summary: Some(map::beginning(&self.result, map::SUMMARY).to_owned()),
            artifacts: Vec::new(),
            output: vec![],
        }
    }

    /// How long it took: as the tool itself says, or else between the lines of
    /// the call and of its result.
    fn duration_ms(&self) -> Option<u64> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Timed {
            #[serde(default)]
            duration_ms: Option<f64>,
            #[serde(default)]
            total_duration_ms: Option<f64>,
        }
        let answer = self.answer?;
        let result = answer.talk.tool_use_result.as_deref();
        let timed: Option<Timed> =
            result.and_then(|result| serde_json::from_str(result.get()).ok());
        let said = timed.and_then(|timed| timed.duration_ms.or(timed.total_duration_ms));
        if let Some(said) = said.filter(|said| *said >= 0.0) {
            // Some versions write fractions of milliseconds.
            return Some(said.round() as u64);
        }
        let took = answer.talk.at()?.to_utc() - self.waiting.at?.to_utc();
        u64::try_from(took.num_milliseconds()).ok()
    }

    fn patch_set(&self, path: &str, load: &mut Load) -> Vec<Request> {
        let result = self
            .answer
            .and_then(|answer| answer.talk.tool_use_result.as_deref());
        let change = edit::change(path, &self.input, result);
        if change.made {
            load.remarks.push(Remark::DiffMade);
            load.fields
                .inferred("patch_set.diff (from the call's texts)");
        }
        let counted = change.lines.added + change.lines.deleted > 0;
        if change.diff.is_none() && counted {
            load.remarks.push(Remark::DiffTooLarge);
        }
        let touched = TouchedFile {
            path: path.to_owned(),
            change_type: change.change_type,
            lines_added: change.lines.added,
            lines_deleted: change.lines.deleted,
        };
        let propose = ProposePatchSet {
            id: Some(self.ids.patch_set),
            diff: change.diff.map(Payload),
            touched: vec![touched],
            ..ProposePatchSet::new(self.chain.run, DiffFormat::Unified)
        };
        let mut requests = vec![self.by().request(propose)];
        if self.answer.is_some_and(|answer| answer.is_error) {
            requests.push(self.by().request(RejectPatchSet {
                patch_set: self.ids.patch_set,
                reason: Some(map::beginning(&self.result, map::SUMMARY).to_owned()),
            }));
        }
        requests
    }

    /// What the model saw of the result; nothing, if there is none.
    fn frame(&self, load: &mut Load) -> Option<Frame> {
        let answer = self.answer?;
        let content = load.json(answer.content);
        let is_left_out = content.is_none() && answer.content.is_some();
        let kind = match (&self.file, self.status) {
            (_, ToolStatus::Error) => FrameKind::ErrorRecovery,
            (Some((_, Access::Write)), ToolStatus::Ok) => FrameKind::CodeChange,
            _ => FrameKind::ToolCall,
        };
        let data = FrameData {
            line: Some(answer.talk.name()),
            parent_line: answer.talk.parent_uuid.as_deref(),
            message: Some(&self.waiting.message),
            tool_use: Some(&self.waiting.id),
            tool_use_line: Some(&self.waiting.line_name),
            left_out: is_left_out.then_some(map::LEFT_OUT),
            ..FrameData::default()
        };
        let summary = format!("{}: {}", self.subject(), self.result);
        let seen = said(answer.content);
        Some(map::frame(
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
        let Some(result) = self
            .answer
            .and_then(|answer| answer.talk.tool_use_result.as_deref())
        else {
            return;
        };
        let table = match &self.file {
            Some((_, Access::Write)) => fields::EDIT_RESULT,
            _ => fields::RESULT,
        };
        fields::count(result.get(), "toolUseResult", table, &[], &mut load.fields);
    }
}

/// The text of a result, whatever its form, as far as a summary needs it.
pub(super) fn text_of(content: Option<&RawValue>) -> String {
    let Some(content) = content else {
        return String::new();
    };
    match texts(content) {
        Some(texts) => texts.join("\n"),
        None => map::beginning(content.get(), map::SUMMARY).to_owned(),
    }
}

/// All texts of a result, which a model reads as they are. None, if it has no
/// text: an image's bytes say nothing of the tokens that it takes.
pub(super) fn said(content: Option<&RawValue>) -> Option<String> {
    let texts = texts(content?)?;
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// A text, or the texts of a list of parts; none, if it is neither.
fn texts(content: &RawValue) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct Part {
        #[serde(default)]
        text: Option<String>,
    }
    let json = content.get();
    if let Ok(text) = serde_json::from_str::<String>(json) {
        return Some(vec![text]);
    }
    let parts: Vec<Part> = serde_json::from_str(json).ok()?;
    Some(parts.into_iter().filter_map(|part| part.text).collect())
}
