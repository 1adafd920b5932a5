//! Prompts that a person types while the agent works.
//!
//! They are queued, and up to three lines have the text of one that the model got. It is a prompt once, on the first of them.
//!
//! | Line | What it says of a queued prompt |
//! | --- | --- |
//! | `queue-operation` with `enqueue` | it waits |
//! | `queue-operation` with `remove` | the model got it while it worked |
//! | `queue-operation` with `dequeue` | the next turn begins with it: another line has it |
//! | `queue-operation` with `popAll` | the person took all of them back |
//! | `attachment` of type `queued_command` | the model got it; also where the queue's own lines are missing |
//! | `user` | the same |

use std::collections::VecDeque;

use annals_domain::Timestamp;

/// Prompts of a session that wait, at most. A person types few.
const QUEUED: usize = 1_000;

/// The queued prompts of a session.
#[derive(Debug, Default)]
pub(super) struct PromptQueue {
    waiting: VecDeque<Queued>,
    /// Prompts that left the queue, of which another line may have the text.
    left: VecDeque<LeftPrompt>,
    /// The newest prompt on a line of the user, until the model answers.
    typed: Option<String>,
    /// The names that attachments give to prompts.
    sources: VecDeque<String>,
}

/// A prompt that waits.
#[derive(Debug)]
pub(super) struct Queued {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) at: Option<Timestamp>,
    /// Whether an attachment had it before it left the queue.
    pub(super) is_attached: bool,
}

/// A prompt that left the queue.
#[derive(Debug)]
struct LeftPrompt {
    text: String,
    carrier: Carrier,
    /// Whether the model answered since.
    is_answered: bool,
}

/// The line that a queued prompt was recorded from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Carrier {
    /// None yet.
    Nothing,
    Removal,
    Attachment,
    User,
    /// One line, and another that repeats it.
    Two,
}

impl PromptQueue {
    pub(super) fn enqueue(&mut self, queued: Queued) {
        if self.waiting.len() < QUEUED {
            self.waiting.push_back(queued);
        }
    }

    /// Takes out the prompt that the next turn begins with.
    pub(super) fn dequeue(&mut self, text: Option<&str>) {
        let Some(queued) = self.take(text, false) else {
            return;
        };
        let carrier = match queued.is_attached {
            true => Carrier::Attachment,
            false => Carrier::Nothing,
        };
        self.leave(queued.text, carrier);
    }

    /// Takes out a prompt that the model got while it worked. `None` if no line names it, or another line had it.
    pub(super) fn remove(&mut self, text: Option<&str>) -> Option<Queued> {
        let queued = self.take(text, true)?;
        if queued.is_attached || queued.text.trim().is_empty() {
            return None;
        }
        self.leave(queued.text.clone(), Carrier::Removal);
        Some(queued)
    }

    /// Forgets all that wait: the person took them back.
    pub(super) fn pop_all(&mut self) {
        self.waiting.clear();
    }

    /// Returns `true` if an attachment is the first line that has a prompt.
    pub(super) fn attached(&mut self, text: &str, source: Option<&str>) -> bool {
        if let Some(source) = source {
            if self.sources.iter().any(|it| it == source) {
                return false;
            }
            bounded_push(&mut self.sources, source.to_owned());
        }
        if let Some(left) = self.left_as(text, &[Carrier::Removal]) {
            left.carrier = Carrier::Two;
            return false;
        }
        if let Some(left) = self.left_as(text, &[Carrier::Nothing]) {
            left.carrier = Carrier::Attachment;
            return true;
        }
        let mut waiting = self.waiting.iter_mut();
        if let Some(queued) = waiting.find(|it| !it.is_attached && is_same(&it.text, text)) {
            queued.is_attached = true;
            self.leave(text.to_owned(), Carrier::Attachment);
            return true;
        }
        if let Some(left) = self.left_as(text, &[Carrier::User, Carrier::Two]) {
            left.carrier = Carrier::Two;
            return false;
        }
        if self.typed.take_if(|typed| is_same(typed, text)).is_some() {
            return false;
        }
        self.leave(text.to_owned(), Carrier::Attachment);
        true
    }

    /// Returns `true` if a line of the user is the first one that has a prompt.
    pub(super) fn typed(&mut self, text: &str) -> bool {
        self.typed = Some(text.to_owned());
        if let Some(left) = self.left_as(text, &[Carrier::Nothing]) {
            left.carrier = Carrier::User;
            return true;
        }
        let carriers = [Carrier::Removal, Carrier::Attachment, Carrier::Two];
        match self.left_as(text, &carriers) {
            // The person may have typed the same again.
            Some(left) if !left.is_answered => {
                left.carrier = Carrier::Two;
                false
            }
            _ => true,
        }
    }

    /// The model answers, or a person interrupts it: what is typed from here on repeats nothing.
    pub(super) fn answered(&mut self) {
        self.typed = None;
        self.left
            .retain(|left| matches!(left.carrier, Carrier::Nothing | Carrier::Removal));
        self.left
            .iter_mut()
            .for_each(|left| left.is_answered = true);
    }

    /// Takes a prompt out: the one with this text, or else the first one. A line of a prompt that is not a text names none.
    fn take(&mut self, text: Option<&str>, prefers_unnamed: bool) -> Option<Queued> {
        let is_unnamed = |it: &Queued| prefers_unnamed && it.text.trim().is_empty();
        let place = match text {
            Some(text) => self.waiting.iter().position(|it| is_same(&it.text, text))?,
            None => self.waiting.iter().position(is_unnamed).unwrap_or(0),
        };
        self.waiting.remove(place)
    }

    fn leave(&mut self, text: String, carrier: Carrier) {
        let left = LeftPrompt {
            text,
            carrier,
            is_answered: false,
        };
        bounded_push(&mut self.left, left);
    }

    fn left_as(&mut self, text: &str, carriers: &[Carrier]) -> Option<&mut LeftPrompt> {
        let is_it =
            |left: &&mut LeftPrompt| carriers.contains(&left.carrier) && is_same(&left.text, text);
        self.left.iter_mut().find(is_it)
    }
}

fn is_same(one: &str, other: &str) -> bool {
    one.trim() == other.trim()
}

fn bounded_push<T>(list: &mut VecDeque<T>, value: T) {
    if list.len() >= QUEUED {
        list.pop_front();
    }
    list.push_back(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The prompts of some lines: `+x` is queued, `-x` removed, `<` dequeued, `<<` taken back, `@x` attached, `>x` typed,
    /// `.` answered. A prompt is shown with the line that it is recorded from.
    fn prompts(lines: &[&str]) -> Vec<String> {
        let mut queue = PromptQueue::default();
        let mut found = Vec::new();
        for line in lines {
            let (kind, text) = line.split_at(1);
            let said = (!text.is_empty()).then_some(text);
            let is_prompt = match kind {
                "+" => {
                    queue.enqueue(Queued {
                        name: text.to_owned(),
                        text: text.to_owned(),
                        at: None,
                        is_attached: false,
                    });
                    false
                }
                "-" => queue.remove(said).is_some(),
                "<" if text == "<" => {
                    queue.pop_all();
                    false
                }
                "<" => {
                    queue.dequeue(said);
                    false
                }
                "@" => queue.attached(text, None),
                ">" => queue.typed(text),
                _ => {
                    queue.answered();
                    false
                }
            };
            if is_prompt {
                found.push((*line).to_owned());
            }
        }
        found
    }

    #[test]
    fn a_queued_prompt_is_recorded_once() {
        for (lines, expected) in [
            // Whatever carries it, and in whatever order.
            (&["+a", "-a"][..], &["-a"][..]),
            (&["+a", "-a", "@a"], &["-a"]),
            (&["+a", "-a", ".", "@a"], &["-a"]),
            (&["+a", "-a", ">a"], &["-a"]),
            (&["+a", "-a", "@a", ">a", ">a"], &["-a"]),
            (&["+a", "@a", "-a"], &["@a"]),
            (&["+a", "@a", ".", "-"], &["@a"]),
            (&["+a", "<", ">a", "@a"], &[">a"]),
            (&["+a", "<", "@a", ">a"], &["@a"]),
            (&["+a", "<", ".", "@a"], &["@a"]),
            (&["+a", "@a", "<", ">a"], &["@a"]),
            (&["@a"], &["@a"]),
            (&["@a", ">a"], &["@a"]),
            (&["+a", "@a", ">a", "-a"], &["@a"]),
            (&[">a", "@a"], &[">a"]),
            // Taken back, and nothing.
            (&["+a", "<<", "-a"], &[]),
            (&["-a", "-", "<"], &[]),
            // In their order, by name or by place.
            (
                &["+a", "+b", "+c", "<", ">a", "-c", "-"],
                &[">a", "-c", "-"],
            ),
            // A prompt that is not a text has no name.
            (&["+a", "+", "-", "@b", "<", ">a"], &["@b", ">a"]),
        ] {
            assert_eq!(prompts(lines), expected, "{lines:?}");
        }
    }

    #[test]
    fn the_same_text_twice_is_two_prompts() {
        for (lines, expected) in [
            (&["+a", "+a", "-a", "@a", "-a", "@a"][..], &["-a", "-a"][..]),
            (&["+a", "+a", "@a", "-a", "@a", "-a"], &["@a", "@a"]),
            (&["+a", "+a", "@a", "@a", "-a", "-a"], &["@a", "@a"]),
            (&["+a", "-a", ".", ">a"], &["-a", ">a"]),
            (&["+a", "<", "@a", ".", ">a"], &["@a", ">a"]),
            (&["+a", "<", ">a", ".", "+a", "@a", "-a"], &[">a", "@a"]),
            (&[">a", ".", "@a"], &[">a", "@a"]),
            (&["@a", ".", ">a"], &["@a", ">a"]),
        ] {
            assert_eq!(prompts(lines), expected, "{lines:?}");
        }
    }

    #[test]
    fn an_attachment_with_the_name_of_another_one_repeats_it() {
        let mut queue = PromptQueue::default();
        assert!(queue.attached("a", Some("1")));
        assert!(queue.attached("a", Some("2")));
        assert!(!queue.attached("a", Some("1")));
    }
}
