//! Texts that were queued while the agent worked. Claude Code records them as they leave the queue, and once more as an
//! attachment of the context, or as the attachment alone.

use annals_domain::ActorRef;
use serde::{Deserialize, Deserializer};

use super::{ConversationFold, TurnSlot};
use crate::conversation::turn::TurnBody;
use crate::{Entry, Text};

/// A queued text, as an attachment has it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct QueuedCommand {
    #[serde(rename = "type")]
    kind: String,
    #[serde(deserialize_with = "prompt_text")]
    pub(super) prompt: String,
    command_mode: Option<String>,
    #[serde(default)]
    is_meta: bool,
    origin: Option<PromptOrigin>,
}

/// The sender of a queued text.
#[derive(Debug, Deserialize)]
struct PromptOrigin {
    kind: Option<String>,
}

/// The text of a prompt: a text, or a list of parts of which some are texts.
fn prompt_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Prompt {
        Text(String),
        Parts(Vec<Part>),
    }
    #[derive(Deserialize)]
    struct Part {
        text: Option<String>,
    }
    Ok(match Prompt::deserialize(deserializer)? {
        Prompt::Text(text) => text,
        Prompt::Parts(parts) => {
            let texts = parts.into_iter().filter_map(|part| part.text);
            texts.collect::<Vec<String>>().join("\n")
        }
    })
}

impl QueuedCommand {
    /// Reads the text of a frame. `None` if it is another text.
    pub(super) fn read(text: &Text) -> Option<QueuedCommand> {
        let text = text.as_str().filter(|text| text.starts_with('{'))?;
        let command: QueuedCommand = serde_json::from_str(text).ok()?;
        (command.kind == "queued_command").then_some(command)
    }

    /// Returns `true` if a person wrote it.
    pub(super) fn is_prompt(&self) -> bool {
        let sender = self.origin.as_ref().and_then(|it| it.kind.as_deref());
        let is_by_person = !self.is_meta && sender.unwrap_or("human") == "human";
        is_by_person && self.command_mode.as_deref().unwrap_or("prompt") == "prompt"
    }
}

impl ConversationFold {
    /// Takes an attachment as a repetition of the turn that was recorded for it just before. Returns `false` if there is
    /// none. A turn is repeated once.
    pub(super) fn repeats_queued(&mut self, prompt: &str, line: Option<&String>) -> bool {
        let newest = self.slots.iter_mut().enumerate().rev();
        let mut newest = newest.take_while(|(_, slot)| is_prompt_or_note(slot));
        let is_it = |(_, slot): &(usize, &mut TurnSlot)| {
            let text = match &slot.turn.body {
                TurnBody::Prompt(prompt) => &prompt.text,
                TurnBody::Note { text, .. } => text,
                _ => return false,
            };
            let is_same = text
                .as_str()
                .is_some_and(|text| text.trim() == prompt.trim());
            is_same && !slot.is_repeated
        };
        let Some((index, slot)) = newest.find(is_it) else {
            return false;
        };
        slot.is_repeated = true;
        self.set_line(index, line.cloned());
        true
    }

    /// The person who wrote the newest prompt.
    pub(super) fn person(&self, entry: &Entry) -> ActorRef {
        let by = |slot: &TurnSlot| match &slot.turn.body {
            TurnBody::Prompt(prompt) => Some(prompt.by.clone()),
            _ => None,
        };
        let newest = self.slots.iter().rev().find_map(by);
        newest
            .or_else(|| self.earlier_person.clone())
            .unwrap_or_else(|| entry.actor.clone())
    }
}

fn is_prompt_or_note(slot: &TurnSlot) -> bool {
    matches!(slot.turn.body, TurnBody::Prompt(_) | TurnBody::Note { .. })
}
