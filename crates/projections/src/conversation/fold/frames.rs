//! Frames of a context pipeline: what was said, and the results of tool calls.

use annals_domain::pipeline::{FramePushed, FramesDropped};

use super::calls::CallStart;
use super::queued::QueuedCommand;
use super::{ConversationFold, calls};
use crate::conversation::REPEATED_PROMPT;
use crate::conversation::result;
use crate::conversation::turn::{CallResult, PromptTurn, TurnBody};
use crate::frame_data::FrameData;
use crate::slash_command::slash_command_name;
use crate::{Entry, Text};

/// The beginnings of texts with which agents record that a person interrupted them.
const INTERRUPTIONS: [&str; 3] = [
    "[Request interrupted by user",
    "<turn_aborted>",
    "[Operation cancelled",
];
/// The subtype of a checkpoint that holds the title of an earlier conversation. Nothing was compacted.
const TITLE: &str = "summary";
/// The name of the note that a compaction was done.
const COMPACTION: &str = "compaction";

impl ConversationFold {
    pub(super) fn frame(&mut self, entry: &Entry, event: &FramePushed) {
        self.frames += 1;
        let data = FrameData::read(entry, event.data);
        if data.tool_use.is_some() {
            self.result_frame(entry, event, &data);
            return;
        }
        let text = text_of(entry, event);
        let queued = match event.kind.as_str() {
            "system_state" => QueuedCommand::read(&text),
            _ => None,
        };
        let is_repeated = data.subtype.as_deref() == Some(REPEATED_PROMPT);
        let (text, by, is_queued) = match queued {
            Some(queued)
                if self.repeats_queued(&queued.prompt, data.line.as_ref()) || is_repeated =>
            {
                return;
            }
            Some(queued) => {
                let is_prompt = queued.is_prompt();
                (Text::from(queued.prompt), self.person(entry), is_prompt)
            }
            None => (text, entry.actor.clone(), false),
        };
        let body = match event.kind.as_str() {
            kind if is_queued || kind == "intent_analysis" => TurnBody::Prompt(PromptTurn {
                command: text.as_str().and_then(slash_command_name),
                text,
                by,
                intent: None,
            }),
            _ if is_interruption(&text) => TurnBody::Interruption { text },
            "step_summary" if data.is_error(text.as_str().unwrap_or_default()) => {
                TurnBody::Error { text }
            }
            "step_summary" => TurnBody::Answer {
                text,
                model: self.model.clone(),
            },
            "thinking" => TurnBody::Thinking { text },
            "checkpoint" if data.subtype.as_deref() == Some(TITLE) => TurnBody::Note {
                name: TITLE.to_owned(),
                text,
            },
            "checkpoint" => {
                self.compaction(entry, text, data);
                return;
            }
            kind => TurnBody::Note {
                name: data.subtype.unwrap_or_else(|| kind.to_owned()),
                text,
            },
        };
        let slot = self.push(entry, body, data.parent_line);
        self.set_line(slot, data.line);
    }

    /// A compaction, and the summary that it leaves, are two frames in a row and one turn: the summary. What came first is
    /// a note.
    fn compaction(&mut self, entry: &Entry, text: Text, data: FrameData) {
        let mut dropped = self.dropped_by(entry);
        let mut begun = None;
        if let Some(newest) = self.slots.len().checked_sub(1)
            && let Some(slot) = self.change(newest)
            && let TurnBody::Compaction { text, dropped: own } = &mut slot.turn.body
        {
            dropped = dropped.or(*own);
            begun = slot.batch;
            slot.turn.body = TurnBody::Note {
                name: COMPACTION.to_owned(),
                text: std::mem::replace(text, Text::Removed),
            };
        }
        let slot = self.push(
            entry,
            TurnBody::Compaction { text, dropped },
            data.parent_line,
        );
        self.set_line(slot, data.line);
        if let Some(slot) = self.slots.get_mut(slot) {
            // A part with the summary is read from where the compaction began.
            slot.batch = begun.or(slot.batch);
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
        if let Some(slot) = calls::of_batch(self.newest_call, entry) {
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
        // A result that came after its call was given up: the call is where it was made already.
        if let Some(slot) = calls::of_batch(self.newest_end, entry) {
            self.set_result(slot, result);
            self.named_calls.insert(name, slot);
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
