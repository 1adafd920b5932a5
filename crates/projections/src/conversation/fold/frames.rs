//! Frames of a context pipeline: what was said, and the results of tool calls.

use annals_domain::Timestamp;
use annals_domain::pipeline::{FramePushed, FramesDropped};
use serde::Deserialize;

use super::calls::{CallPlace, CallStart};
use super::queued::QueuedCommand;
use super::{ConversationFold, calls};
use crate::conversation::result;
use crate::conversation::turn::{CallResult, PromptTurn, TurnBody};
use crate::{Entry, Text};

/// The beginnings of texts with which agents record that a person interrupted them.
const INTERRUPTIONS: [&str; 3] = [
    "[Request interrupted by user",
    "<turn_aborted>",
    "[Operation cancelled",
];
/// The beginning of a text that Claude Code shows in place of an answer.
const API_ERROR: &str = "API Error";

/// The data that importers keep with a frame.
#[derive(Debug, Default, Deserialize)]
pub(super) struct FrameData {
    #[serde(default)]
    parent_line: Option<String>,
    #[serde(default)]
    tool_use: Option<String>,
    #[serde(default)]
    tool_use_line: Option<String>,
    #[serde(default)]
    tool_use_at: Option<Timestamp>,
    #[serde(default)]
    tool_use_after: Option<CallPlace>,
    #[serde(default)]
    line: Option<String>,
    #[serde(default)]
    subtype: Option<String>,
    #[serde(default)]
    left_out: Option<String>,
}

impl ConversationFold {
    pub(super) fn frame(&mut self, entry: &Entry, event: &FramePushed) {
        self.frames += 1;
        let data = event.data.map(|slot| entry.text(slot));
        let data = data.as_ref().and_then(Text::as_str);
        let data: FrameData = data
            .and_then(|data| serde_json::from_str(data).ok())
            .unwrap_or_default();
        if data.tool_use.is_some() {
            self.result_frame(entry, event, &data);
            return;
        }
        let text = text_of(entry, event);
        let queued = match event.kind.as_str() {
            "system_state" => QueuedCommand::read(&text),
            _ => None,
        };
        let (text, by, is_queued) = match queued {
            Some(queued) if self.repeats_queued(&queued.prompt, data.line.as_ref()) => return,
            Some(queued) => {
                let is_prompt = queued.is_prompt();
                (Text::from(queued.prompt), self.person(entry), is_prompt)
            }
            None => (text, entry.actor.clone(), false),
        };
        let body = match event.kind.as_str() {
            kind if is_queued || kind == "intent_analysis" => TurnBody::Prompt(PromptTurn {
                command: text.as_str().and_then(slash_command),
                text,
                by,
                intent: None,
            }),
            _ if is_interruption(&text) => TurnBody::Interruption { text },
            "step_summary" if is_error(&text, &data) => TurnBody::Error { text },
            "step_summary" => TurnBody::Answer {
                text,
                model: self.model.clone(),
            },
            "thinking" => TurnBody::Thinking { text },
            "checkpoint" => TurnBody::Compaction {
                text,
                dropped: self.dropped_by(entry),
            },
            kind => TurnBody::Note {
                name: data.subtype.unwrap_or_else(|| kind.to_owned()),
                text,
            },
        };
        let slot = self.push(entry, body, data.parent_line);
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.line = data.line;
        }
    }

    pub(super) fn drop_frames(&mut self, entry: &Entry, event: &FramesDropped) {
        let number = match event.all {
            true => Some(self.frames),
            false => event.frames.iter().try_fold(0_u64, |sum, range| {
                let length = range.last.0.checked_sub(range.first.0)?;
                sum.checked_add(length)?.checked_add(1)
            }),
        };
        self.dropped = Some((entry.batch_id, number));
    }

    fn dropped_by(&self, entry: &Entry) -> Option<u64> {
        let (batch, number) = self.dropped?;
        number.filter(|_| batch == entry.batch_id)
    }

    /// The frame of a tool call's result: of the call of its batch, or of an earlier one.
    fn result_frame(&mut self, entry: &Entry, event: &FramePushed, data: &FrameData) {
        let result = result_of(entry, event, data);
        let name = data.tool_use.clone().unwrap_or_default();
        let of_batch = self
            .newest_call
            .filter(|(batch, _)| *batch == entry.batch_id);
        if let Some((_, slot)) = of_batch {
            self.set_result(slot, result);
            self.named_calls.insert(name, slot);
            let start = CallStart {
                at: data.tool_use_at,
                line: data.tool_use_line.clone(),
                place: data.tool_use_after.clone(),
            };
            self.move_to_its_start(slot, &start);
            return;
        }
        let early = self.named_calls.get(&name).copied();
        match early.filter(|slot| calls::lacks_result(self.slots.get(*slot))) {
            Some(slot) => self.set_result(slot, result),
            None => {
                let text = result.map_or_else(|| entry.text(event.summary), result::all_of);
                let body = TurnBody::Note {
                    name: "tool result".to_owned(),
                    text,
                };
                self.push(entry, body, data.parent_line.clone());
            }
        }
    }
}

/// The result in a frame; `None` if the recording has none.
fn result_of(entry: &Entry, event: &FramePushed, data: &FrameData) -> Option<CallResult> {
    if data.left_out.is_some() {
        return Some(CallResult {
            text: entry.text(event.summary),
            json: None,
            is_beginning: true,
        });
    }
    let content = event.content?;
    Some(match entry.text(content) {
        Text::Removed => CallResult {
            text: Text::Removed,
            json: None,
            is_beginning: false,
        },
        Text::Present(json) => result::read(&json),
    })
}

/// A frame's whole text; its summary can be the beginning only.
fn text_of(entry: &Entry, event: &FramePushed) -> Text {
    match event.content.map(|slot| entry.text(slot)) {
        Some(Text::Present(json)) => Text::Present(serde_json::from_str(&json).unwrap_or(json)),
        Some(Text::Removed) => Text::Removed,
        None => entry.text(event.summary),
    }
}

fn is_interruption(text: &Text) -> bool {
    let text = text.as_str().unwrap_or_default().trim_start();
    INTERRUPTIONS.iter().any(|begin| text.starts_with(begin))
}

fn is_error(text: &Text, data: &FrameData) -> bool {
    let is_named = data
        .subtype
        .as_deref()
        .is_some_and(|it| it.contains("error"));
    is_named
        || text
            .as_str()
            .is_some_and(|text| text.starts_with(API_ERROR))
}

/// The slash command of a prompt: `/review`, as it was typed or as agents record it.
fn slash_command(text: &str) -> Option<String> {
    let typed = match text.split_once("<command-name>") {
        Some((_, rest)) => rest.split_once("</command-name>")?.0,
        None => text.trim_start(),
    };
    let word = typed.split_whitespace().next()?;
    let name = word.strip_prefix('/')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_:.".contains(c);
    (!name.is_empty() && name.chars().all(is_name)).then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slash_commands_are_recognized() {
        for (text, expected) in [
            ("/review the cart", Some("/review")),
            (
                "<command-message>x</command-message>\n<command-name>/init</command-name>",
                Some("/init"),
            ),
            ("/usr/bin/env is missing", None),
            ("and/or", None),
            ("/", None),
        ] {
            assert_eq!(slash_command(text).as_deref(), expected, "{text}");
        }
    }
}
