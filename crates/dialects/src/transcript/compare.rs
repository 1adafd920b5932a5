//! Whether what a recording says now is what the log has under the same names.
//!
//! What is compared follows from the lines alone: prompts, texts, calls, results and diffs. Times, places
//! in the session, and which session a line is copied into are not. What was removed from the log since is
//! not compared, nor what is where one of the two has the mark of a secret: what is taken out differs from one
//! import to the next.

use annals::LoadError;
use annals::projections::{Entry, PieceValue, Text};
use annals_domain::pipeline::{Event as PipelineEvent, FramePushed};
use annals_domain::run::{
    Event as RunEvent, PatchSetProposed, ProposePatchSet, ToolInvoked, ToolRequested,
};
use annals_domain::{AnyEvent, Json, intent};
use annals_event_log::{Position, Query};
use bytes::Bytes;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::agent::Agent;
use super::claim::{Call, Claim};
use super::edit::{self, Access, Patch};
use super::importer::Importer;
use super::item::{QUEUED, REPEATED};
use super::record::LoggedBatch;
use super::texts;
use crate::import::error::ImportError;
use crate::secrets::MARKER;

impl Importer<'_> {
    /// Whether the events of a batch say what the claims say. One that no event of the batch is about
    /// holds: the log has it under another name, or not at all.
    pub(super) async fn holds(
        &self,
        claims: &[Claim<'_>],
        batch: LoggedBatch,
    ) -> Result<bool, ImportError> {
        if claims.is_empty() {
            return Ok(true);
        }
        let failed = |error: LoadError| ImportError::View(Box::new(error.into()));
        let mut next = Some(batch.first.0);
        // A page ends early where records are long.
        while let Some(from) = next.filter(|from| *from <= batch.last.0) {
            let count = (batch.last.0 - from).saturating_add(1);
            let query = Query::all(Position(from)).limit(usize::try_from(count).unwrap_or(1));
            let page = self.annals.log().read(query).await?;
            for record in page.records {
                if record.position() > batch.last {
                    return Ok(true);
                }
                let entry = self
                    .annals
                    .contents()
                    .entry(&record)
                    .await
                    .map_err(failed)?;
                for claim in claims {
                    if !self.holds_in(claim, &entry).await? {
                        return Ok(false);
                    }
                }
            }
            next = page.next;
        }
        Ok(true)
    }

    /// Whether a batch has the frame of a line that repeats a queued prompt.
    pub(super) async fn is_repetition(&self, batch: LoggedBatch) -> Result<bool, ImportError> {
        #[derive(Deserialize)]
        struct Data {
            #[serde(default)]
            subtype: Option<String>,
        }
        let failed = |error: LoadError| ImportError::View(Box::new(error.into()));
        let count = usize::try_from(batch.last.0 - batch.first.0).unwrap_or_default();
        let query = Query::all(batch.first).limit(count.saturating_add(1));
        for record in self.annals.log().read(query).await?.records {
            let entry = self.annals.contents().entry(&record).await;
            let entry = entry.map_err(failed)?;
            let AnyEvent::Pipeline(PipelineEvent::FramePushed(event)) = &entry.event else {
                continue;
            };
            let data = event.data.map(|slot| entry.text(slot));
            let data = data.as_ref().and_then(Text::as_str);
            let data: Option<Data> = data.and_then(|data| serde_json::from_str(data).ok());
            let subtype = data.and_then(|data| data.subtype);
            if subtype.as_deref() == Some(REPEATED) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn holds_in(&self, claim: &Claim<'_>, entry: &Entry) -> Result<bool, ImportError> {
        Ok(match (claim, &entry.event) {
            (Claim::Prompt(prompt), AnyEvent::Intent(intent::Event::Submitted(event))) => {
                same_prompt(self.agent, prompt, &entry.text(event.prompt))
            }
            (
                Claim::Frame { summary, content },
                AnyEvent::Pipeline(PipelineEvent::FramePushed(event)),
            ) => same_frame(*summary, *content, event, entry),
            (Claim::Call(call), AnyEvent::Run(RunEvent::ToolInvoked(event))) => {
                same_call(call, event, entry)
            }
            (Claim::Call(call), AnyEvent::Run(RunEvent::ToolRequested(event))) => {
                same_request(call, event, entry)
            }
            (
                Claim::Diff {
                    diff,
                    of,
                    tool,
                    args,
                    is_made,
                },
                AnyEvent::Run(RunEvent::PatchSetProposed(event)),
            ) => {
                let logged = self.diff(event, entry).await?;
                let call = MadeBy {
                    agent: self.agent,
                    tool,
                    args: *args,
                };
                *is_made || same_diff(*diff, &logged, of, call)
            }
            _ => true,
        })
    }

    /// The diff that the log has of a patch set.
    async fn diff(&self, event: &PatchSetProposed, entry: &Entry) -> Result<Logged, ImportError> {
        let Some(slot) = event.artifact.as_ref().and_then(|it| it.content) else {
            return Ok(Logged::None);
        };
        let bytes = match entry.pieces.get(usize::from(slot.0)) {
            Some(PieceValue::Bytes(bytes)) => Some(bytes.clone()),
            Some(PieceValue::Attachment { digest, .. }) => self.annals.log().blob(*digest).await?,
            Some(PieceValue::Removed) | None => None,
        };
        Ok(bytes.map_or(Logged::Removed, Logged::Diff))
    }
}

/// A diff, as a log has it.
enum Logged {
    None,
    Removed,
    Diff(Bytes),
}

/// Whether a text is the one that the log has, as far as that has it still.
fn is_same(text: &str, logged: &Text) -> bool {
    logged.as_str().is_none_or(|logged| fits(text, logged))
}

/// Older versions recorded all of the text as the prompt; where that was cut, what was asked may be gone.
fn same_prompt(agent: &Agent, prompt: &str, logged: &Text) -> bool {
    let same = |logged: &str| fits(prompt, logged);
    let as_before = |logged: &str| {
        let asked = (agent.asked)(logged);
        asked.is_some_and(same) || (texts::is_cut(logged) && (agent.begins_beside)(logged))
    };
    logged
        .as_str()
        .is_none_or(|logged| same(logged) || as_before(logged))
}

fn same_frame(
    summary: Option<&str>,
    content: Option<&Json>,
    event: &FramePushed,
    entry: &Entry,
) -> bool {
    let logged = match event.content.map(|slot| entry.text(slot)) {
        Some(Text::Removed) => return true,
        Some(Text::Present(json)) => Some(json),
        None => None,
    };
    let begins = |text: &str| match (summary, entry.text(event.summary)) {
        (Some(_), Text::Present(logged)) => fits_beginning(text, &logged),
        _ => true,
    };
    match (content, logged) {
        (Some(json), Some(logged)) => {
            fits(json.compact().text(), &logged) || fits(&text_in(json.text()), &text_in(&logged))
        }
        // What older versions recorded has its content in the data, or the text.
        (Some(_), None) if is_older(event, entry) => begins(summary.unwrap_or_default()),
        (Some(json), None) => match summary {
            Some(_) => begins(&text_in(json.text())),
            None => false,
        },
        (None, Some(logged)) => {
            summary.is_some_and(|summary| fits_beginning(summary, &text_in(&logged)))
        }
        (None, None) => begins(summary.unwrap_or_default()),
    }
}

/// A JSON text as what it says; other JSON as it is. Of an attachment with a queued prompt it is the prompt: older versions
/// recorded such an attachment as it is.
fn text_in(json: &str) -> String {
    #[derive(Deserialize)]
    struct Attachment<'a> {
        #[serde(rename = "type")]
        kind: String,
        #[serde(borrow)]
        prompt: &'a RawValue,
    }
    if let Ok(text) = serde_json::from_str(json) {
        return text;
    }
    match serde_json::from_str::<Attachment<'_>>(json) {
        Ok(attachment) if attachment.kind == QUEUED => texts::text_of(Some(attachment.prompt)),
        _ => json.to_owned(),
    }
}

/// Whether the data of a frame have the content, which newer versions record apart from them.
fn is_older(event: &FramePushed, entry: &Entry) -> bool {
    #[derive(Deserialize)]
    struct Data {
        #[serde(default)]
        text: Option<IgnoredAny>,
        #[serde(default)]
        content: Option<IgnoredAny>,
    }
    let Some(data) = event.data.map(|slot| entry.text(slot)) else {
        return false;
    };
    let data = data.as_str().map(serde_json::from_str::<Data>);
    // Data that were removed cannot say.
    data.is_none_or(|data| data.is_ok_and(|data| data.text.is_some() || data.content.is_some()))
}

fn same_call(call: &Call<'_>, event: &ToolInvoked, entry: &Entry) -> bool {
    let tool = is_same(call.tool, &entry.text(event.tool_name));
    let args = match (call.args, event.args.map(|slot| entry.text(slot))) {
        (Some(args), Some(logged)) => is_same(args.compact().text(), &logged),
        (None, None) | (None, Some(Text::Removed)) => true,
        (None, Some(Text::Present(_))) | (Some(_), None) => false,
    };
    let logged = event.result_summary.map(|slot| entry.text(slot));
    let result = match (call.result, logged) {
        (Some((status, result)), Some(Text::Present(logged))) if logged != texts::NO_RESULT => {
            status == event.status && fits_beginning(result, &logged)
        }
        // It was given up, then or now.
        _ => true,
    };
    tool && args && result
}

/// A request without arguments may be one that was written before them.
fn same_request(call: &Call<'_>, event: &ToolRequested, entry: &Entry) -> bool {
    let args = event.args.map(|slot| entry.text(slot));
    let has_args = match (call.args, args) {
        (Some(args), Some(logged)) => is_same(args.compact().text(), &logged),
        (None, Some(Text::Present(_))) => false,
        (_, None | Some(Text::Removed)) => true,
    };
    has_args && is_same(call.tool, &entry.text(event.tool_name))
}

fn same_diff(diff: Option<&[u8]>, logged: &Logged, of: &ProposePatchSet, call: MadeBy<'_>) -> bool {
    let logged = match logged {
        Logged::Removed => return true,
        Logged::None => None,
        Logged::Diff(bytes) => Some(bytes.as_ref()),
    };
    let is_alike = |diff: Option<&[u8]>| match (diff, logged) {
        (Some(diff), Some(logged)) => {
            let [diff, logged] = [diff, logged].map(String::from_utf8_lossy);
            fits(hunks(&diff), hunks(&logged))
        }
        (diff, logged) => diff == logged,
    };
    if is_alike(diff) {
        return true;
    }
    // The log has it from a copy without the recorded diff.
    logged.is_some() && is_alike(call.made(of).as_deref())
}

/// The call that made an edit.
#[derive(Debug, Clone, Copy)]
struct MadeBy<'a> {
    agent: &'static Agent,
    tool: &'a str,
    args: Option<&'a Json>,
}

impl MadeBy<'_> {
    /// The diff that follows from the call's texts.
    fn made(&self, of: &ProposePatchSet) -> Option<Vec<u8>> {
        let input = self.args;
        let input = input.and_then(|args| RawValue::from_string(args.text().to_owned()).ok());
        let files = (self.agent.files)(self.tool, input.as_deref());
        let written = files.iter().filter(|file| file.access == Access::Write);
        let mut diff = Vec::new();
        for (file, touched) in written.zip(&of.touched) {
            let change = edit::change(&touched.path, &file.texts, &Patch::default());
            diff.extend(change.diff?);
        }
        (!diff.is_empty()).then_some(diff)
    }
}

/// A diff without its file's name, which follows from the folder that the line was written in.
fn hunks(diff: &str) -> &str {
    diff.find("\n@@")
        .and_then(|at| diff.get(at..))
        .unwrap_or(diff)
}

/// Whether two texts are the same, but for marks of secrets.
fn fits(a: &str, b: &str) -> bool {
    a == b || is_like(a, b) || is_like(b, a) || (has_marks(a) && has_marks(b) && ends_alike(a, b))
}

/// The same of texts of which one or both may be cut: where marks are longer or shorter than what they stand
/// for, the cut is elsewhere.
fn fits_beginning(a: &str, b: &str) -> bool {
    let is_cut = |text: &str| text.chars().count() >= texts::SUMMARY;
    let [before_a, before_b] = [a, b].map(|text| before_mark(text, is_cut(text)));
    let is_marked = before_a.len() < a.len() || before_b.len() < b.len();
    if !is_marked || !(is_cut(a) || is_cut(b)) {
        return fits(a, b);
    }
    before_a.starts_with(before_b) || before_b.starts_with(before_a)
}

/// A text up to its first mark, which may be cut.
fn before_mark(text: &str, is_cut: bool) -> &str {
    let whole = text.find(MARKER);
    let begun = || {
        (1..MARKER.len())
            .rev()
            .find_map(|length| text.strip_suffix(MARKER.get(..length)?))
    };
    match whole {
        Some(at) => text.get(..at).unwrap_or(text),
        None if is_cut => begun().unwrap_or(text),
        None => text,
    }
}

fn has_marks(text: &str) -> bool {
    text.contains(MARKER)
}

/// What is between the marks of a text.
fn between(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(MARKER) {
        parts.push(before);
        rest = behind.split_once(']').map_or("", |(_, rest)| rest);
    }
    parts.push(rest);
    parts
}

/// Whether a text is another one, in which something stands for each of its marks.
fn is_like(marked: &str, text: &str) -> bool {
    let parts = between(marked);
    let ([first, middle @ .., last], true) = (parts.as_slice(), parts.len() > 1) else {
        return false;
    };
    let Some(rest) = text.strip_prefix(first) else {
        return false;
    };
    let Some(mut rest) = rest.strip_suffix(last) else {
        return false;
    };
    for part in middle {
        let Some((_, behind)) = rest.split_once(part) else {
            return false;
        };
        rest = behind;
    }
    true
}

/// Whether two texts begin and end alike, up to the first mark and from the last one on.
fn ends_alike(a: &str, b: &str) -> bool {
    let (a, b) = (between(a), between(b));
    let alike = |a: Option<&&str>, b: Option<&&str>, fits: fn(&str, &str) -> bool| match (a, b) {
        (Some(a), Some(b)) => fits(a, b) || fits(b, a),
        _ => false,
    };
    alike(a.first(), b.first(), |a, b| a.starts_with(b))
        && alike(a.last(), b.last(), |a, b| a.ends_with(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_compared_but_for_marks_of_secrets() {
        for (a, b) in [
            ("", ""),
            ("the key is [redacted:acme].", "the key is 17."),
            ("[redacted:a]", "anything"),
            ("a [redacted:a] b [redacted:b] c", "a 1 b 2 c"),
            ("a [redacted:a] b 2 c", "a [redacted:a] b [redacted:b] c"),
            ("a [redacted:a] b 2 c", "a 1 b [redacted:b] c"),
        ] {
            assert!(fits(a, b) && fits(b, a), "{a:?} and {b:?}");
        }
        for (a, b) in [
            ("a", "b"),
            ("", "a"),
            ("the key is [redacted:acme].", "the kex is 17."),
            ("a [redacted:a] b [redacted:b] c", "a 1 d 2 c"),
            ("x [redacted:a] b 2 c", "a 1 b [redacted:b] c"),
        ] {
            assert!(!fits(a, b) && !fits(b, a), "{a:?} and {b:?}");
        }
    }

    #[test]
    fn what_is_cut_is_compared_as_far_as_a_mark_moves_nothing() {
        let (key, mark) = ("k".repeat(40), "[redacted:a]");
        let of = |secret: &str, end: &str| {
            let text = format!("see {secret}{}{end}", "é".repeat(texts::SUMMARY));
            texts::beginning(&text, texts::SUMMARY).to_owned()
        };
        assert!(fits_beginning(&of(&key, ""), &of(mark, "")));
        assert!(!fits_beginning("see 1", &of(mark, "")[1..]));
        assert!(!fits_beginning("short", "other"));
        assert!(!fits_beginning(
            &"a".repeat(texts::SUMMARY),
            &"b".repeat(texts::SUMMARY)
        ));
    }
}
