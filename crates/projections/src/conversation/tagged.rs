//! Tags that agents' programs put around parts of prompts, answers and notes, and what they mark.
//!
//! Renderers show the parts in place of the tags. JSON and Markdown keep the text as it was recorded.

use crate::slash_command::slash_command;

/// Characters of the excerpt of a note.
const EXCERPT: usize = 200;

/// A part of a recorded text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextPart<'a> {
    /// The text itself.
    Plain(&'a str),
    /// A slash command with its arguments, such as `/review 12`.
    Command(String),
    /// The output of a command.
    Output(&'a str),
    /// A thought inside of an answer.
    Thought(&'a str),
    /// A context that the program added: its name in words, and its text.
    Added(&'static str, &'a str),
}

/// The meaning of a tag.
#[derive(Debug, Clone, Copy)]
enum Tag {
    Plain,
    Command,
    /// It repeats the command, or belongs to it.
    OfCommand,
    Shell,
    Output,
    Thought,
    Added(&'static str),
}

/// The tags that are recognized. Other tags are text.
const TAGS: [(&str, Tag); 20] = [
    ("user_query", Tag::Plain),
    ("command-name", Tag::Command),
    ("command-message", Tag::OfCommand),
    ("command-args", Tag::OfCommand),
    ("bash-input", Tag::Shell),
    ("bash-stdout", Tag::Output),
    ("bash-stderr", Tag::Output),
    ("local-command-stdout", Tag::Output),
    ("local-command-stderr", Tag::Output),
    ("think", Tag::Thought),
    ("thinking", Tag::Thought),
    ("ide_opened_file", Tag::Added("file opened in the editor")),
    ("ide_selection", Tag::Added("selection in the editor")),
    ("system-reminder", Tag::Added("reminder of the program")),
    ("local-command-caveat", Tag::Added("caveat of the program")),
    ("environment_context", Tag::Added("environment")),
    ("environment_info", Tag::Added("environment")),
    ("workspace_info", Tag::Added("workspace")),
    ("user_instructions", Tag::Added("instructions")),
    ("attachments", Tag::Added("attachments")),
];

/// Divides a text at the tags that begin a line. A text without them is one plain part.
pub fn text_parts(text: &str) -> Vec<TextPart<'_>> {
    let mut parts = Vec::new();
    let mut unclosed: Vec<&str> = Vec::new();
    let (mut plain, mut at) = (0, 0);
    // Whether nothing but white space is before `at` on its line. Each byte is looked at once.
    let mut begins_line = true;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('<')) {
        let start = at + found;
        let between = text.get(at..start).unwrap_or_default();
        let (is_new, line) = match between.rsplit_once('\n') {
            Some((_, line)) => (true, line),
            None => (begins_line, between),
        };
        let is_at_beginning = is_new && line.trim().is_empty();
        at = start + 1;
        begins_line = false;
        if !is_at_beginning {
            continue;
        }
        let before = text.get(plain..start).unwrap_or_default();
        let Some((name, tag)) = tag_at(text, start).filter(|(name, _)| !unclosed.contains(name))
        else {
            continue;
        };
        let Some((inner, end)) = element(text, start, name) else {
            unclosed.push(name);
            continue;
        };
        push_plain(&mut parts, before);
        let whole = text.get(start..).unwrap_or_default();
        parts.extend(part(tag, inner, whole));
        (plain, at, begins_line) = (end, end, true);
    }
    push_plain(&mut parts, text.get(plain..).unwrap_or_default());
    parts
}

/// The recognized tag that opens at a byte of a text.
fn tag_at(text: &str, start: usize) -> Option<(&'static str, Tag)> {
    let name = text.get(start + 1..)?;
    let found = TAGS.iter().find(|(tag, _)| {
        let rest = name.strip_prefix(tag);
        rest.is_some_and(|rest| rest.starts_with('>'))
    });
    found.copied()
}

/// The text between a tag and its end, and the byte behind that.
fn element<'a>(text: &'a str, start: usize, name: &str) -> Option<(&'a str, usize)> {
    let from = start + name.len() + 2;
    let close = format!("</{name}>");
    let length = text.get(from..)?.find(&close)?;
    Some((text.get(from..from + length)?, from + length + close.len()))
}

fn part<'a>(tag: Tag, inner: &'a str, whole: &'a str) -> Option<TextPart<'a>> {
    let text = inner.trim();
    match tag {
        Tag::OfCommand => None,
        Tag::Command => Some(TextPart::Command(
            slash_command(whole).unwrap_or_else(|| text.to_owned()),
        )),
        _ if text.is_empty() => None,
        Tag::Plain => Some(TextPart::Plain(text)),
        Tag::Shell => Some(TextPart::Command(format!("! {text}"))),
        Tag::Output => Some(TextPart::Output(text)),
        Tag::Thought => Some(TextPart::Thought(text)),
        Tag::Added(name) => Some(TextPart::Added(name, text)),
    }
}

fn push_plain<'a>(parts: &mut Vec<TextPart<'a>>, text: &'a str) {
    // A text before or behind a tag does not begin or end with the line break of that tag.
    let text = match parts.is_empty() {
        true => text,
        false => text.trim_start_matches(['\n', '\r']),
    };
    if !text.trim().is_empty() {
        parts.push(TextPart::Plain(text));
    }
}

/// The text of a prompt without what the program added. If nothing else is in it, the whole text.
pub(super) fn own_text(text: &str) -> String {
    let parts = text_parts(text);
    let own = parts.iter().filter_map(|part| match part {
        TextPart::Plain(text) => Some(text.trim()),
        TextPart::Command(command) => Some(command.as_str()),
        _ => None,
    });
    let own = own.collect::<Vec<&str>>().join("\n");
    match own.is_empty() {
        true => text.to_owned(),
        false => own,
    }
}

/// A note in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoteLine {
    /// The kind of note in words.
    pub title: String,
    /// The first line of its text; `None` for metadata, which is JSON.
    pub excerpt: Option<String>,
    /// Whether more than the excerpt is in the text.
    pub is_longer: bool,
}

impl NoteLine {
    /// The line of a note with this name and this text.
    pub fn of(name: &str, text: &str) -> NoteLine {
        let words = match name {
            "system_state" => "added by the program".to_owned(),
            name => name.replace(['_', '.'], " "),
        };
        if is_metadata(text) {
            return NoteLine {
                title: format!("Metadata: {words}"),
                excerpt: None,
                is_longer: true,
            };
        }
        let parts = text_parts(text);
        let (title, shown) = match parts.first() {
            Some(TextPart::Command(command)) => ("Command".to_owned(), command.as_str()),
            Some(TextPart::Output(output)) => ("Command output".to_owned(), *output),
            Some(TextPart::Added(name, text)) => (capitalized(name), *text),
            Some(TextPart::Plain(text) | TextPart::Thought(text)) => (words, *text),
            None => (words, text),
        };
        let mut lines = shown.lines().map(str::trim).filter(|it| !it.is_empty());
        let first = lines.next().unwrap_or_default();
        let is_longer =
            lines.next().is_some() || parts.len() > 1 || first.chars().nth(EXCERPT).is_some();
        NoteLine {
            title,
            excerpt: Some(first.chars().take(EXCERPT).collect()),
            is_longer,
        }
    }
}

fn capitalized(words: &str) -> String {
    let mut chars = words.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

/// Returns `true` if a note is an object in JSON: metadata of the recording that nobody wrote or read.
pub fn is_metadata(text: &str) -> bool {
    let text = text.trim();
    let is_closed = text.starts_with('{') && text.ends_with('}');
    is_closed
        && text
            .get(1..)
            .is_some_and(|rest| rest.trim_start().starts_with(['"', '}']))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By a count of what was compared it would be 10^12 steps.
    #[test]
    fn a_text_of_brackets_takes_no_longer_than_its_length() {
        let brackets = "<".repeat(1_000_000);
        assert_eq!(text_parts(&brackets), [TextPart::Plain(&brackets)]);
        let spaces = format!("{}{}", " ".repeat(500_000), "<think> ".repeat(60_000));
        assert_eq!(text_parts(&spaces).len(), 1);
        let lines = format!("{brackets}\n  <think>Hm</think> <b> <think>No</think>");
        let plain = text_parts(&lines);
        assert_eq!(plain.get(1), Some(&TextPart::Thought("Hm")));
        assert_eq!(plain.len(), 3);
    }

    #[test]
    fn tags_at_the_beginning_of_lines_are_parts() {
        let claude = "<command-message>ide is running</command-message>\n<command-name>/ide</command-name>\n<command-args>on</command-args>";
        for (text, expected) in [
            (
                "a <think>b</think>",
                vec![TextPart::Plain("a <think>b</think>")],
            ),
            (
                "<user_query>\nmake it\n</user_query>",
                vec![TextPart::Plain("make it")],
            ),
            (claude, vec![TextPart::Command("/ide on".to_owned())]),
            (
                "<think>why\nnot</think>\n\nIt is **done**.\n",
                vec![
                    TextPart::Thought("why\nnot"),
                    TextPart::Plain("It is **done**.\n"),
                ],
            ),
            (
                "<ide_opened_file>a.rs</ide_opened_file>\nfix it\n<other>x</other>",
                vec![
                    TextPart::Added("file opened in the editor", "a.rs"),
                    TextPart::Plain("fix it\n<other>x</other>"),
                ],
            ),
            (
                "<local-command-stdout>Connected</local-command-stdout>",
                vec![TextPart::Output("Connected")],
            ),
            (
                "<think>open\n<think>é",
                vec![TextPart::Plain("<think>open\n<think>é")],
            ),
            ("", vec![]),
        ] {
            assert_eq!(text_parts(text), expected, "{text}");
        }
        assert_eq!(own_text(claude), "/ide on");
        assert_eq!(own_text("<think>x</think>"), "<think>x</think>");
    }

    #[test]
    fn notes_have_a_title_and_their_first_line() {
        for (name, text, title, excerpt) in [
            (
                "session_meta",
                r#"{"cwd":"/x"}"#,
                "Metadata: session meta",
                None,
            ),
            (
                "system_state",
                "<command-name>/ide</command-name>",
                "Command",
                Some("/ide"),
            ),
            (
                "system_state",
                "<local-command-stdout>\n one\ntwo</local-command-stdout>",
                "Command output",
                Some("one"),
            ),
            (
                "local_command",
                "3 files\n",
                "local command",
                Some("3 files"),
            ),
            ("x", "{ not json", "x", Some("{ not json")),
        ] {
            let line = NoteLine::of(name, text);
            assert_eq!(
                (line.title.as_str(), line.excerpt.as_deref()),
                (title, excerpt),
                "{text}"
            );
        }
    }
}
