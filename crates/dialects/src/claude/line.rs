//! One line of a recording, as far as the importer understands it.

use annals_domain::Timestamp;
use annals_event_log::IdSecret;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::{ids, map, tool};
use crate::tokens;

/// Types of lines that hold nothing a log has a place for: titles, settings,
/// backups of files, what the program shows while it works.
const WITHOUT_PLACE: [&str; 19] = [
    "agent-color",
    "agent-name",
    "agent-setting",
    "ai-title",
    "attribution-snapshot",
    "bridge-session",
    "content-replacement",
    "custom-title",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "speculation-accept",
    "tag",
    "task-summary",
    "worktree-state",
];

/// A line that was understood.
#[derive(Debug)]
pub(super) struct Line {
    /// Its JSON text.
    pub(super) text: String,
    pub(super) what: What,
}

/// What a line is.
#[derive(Debug)]
pub(super) enum What {
    /// Said by a person, or a tool's result.
    User(Box<Talk>),
    /// Said by the model.
    Assistant(Box<Talk>),
    /// Said by the program.
    System(Box<Talk>),
    /// Put into the context by the program.
    Attachment(Box<Talk>),
    /// A summary of an earlier conversation; it names no session.
    Summary(Summary),
    /// A known type without anything for a log.
    WithoutPlace(String),
    /// A type that is not known.
    Unknown(String),
}

/// The fields of a line that belongs to a session. Those that are null or not
/// there have their defaults.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Talk {
    /// The line's own name; made up where it has none.
    #[serde(default)]
    uuid: Option<String>,
    /// Who said it.
    #[serde(default, rename = "type")]
    pub(super) kind: Option<String>,
    #[serde(default)]
    pub(super) parent_uuid: Option<String>,
    #[serde(default)]
    pub(super) session_id: Option<String>,
    #[serde(default)]
    pub(super) agent_id: Option<String>,
    #[serde(default)]
    timestamp: Option<String>,
    #[serde(default)]
    is_sidechain: Option<bool>,
    #[serde(default)]
    is_meta: Option<bool>,
    #[serde(default)]
    is_compact_summary: Option<bool>,
    #[serde(default)]
    pub(super) cwd: Option<String>,
    #[serde(default)]
    pub(super) git_branch: Option<String>,
    #[serde(default)]
    pub(super) version: Option<String>,
    #[serde(default)]
    message: Option<RawMessage>,
    #[serde(default)]
    pub(super) tool_use_result: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) subtype: Option<String>,
    #[serde(default)]
    pub(super) content: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) compact_metadata: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) attachment: Option<Box<RawValue>>,
    /// The message's parts, in order.
    #[serde(skip)]
    pub(super) blocks: Vec<Block>,
    /// The tokens of its frames, by their numbers, as far as they were counted ahead.
    #[serde(skip)]
    tokens: Vec<Option<u64>>,
}

impl Talk {
    /// The line's own name.
    pub(super) fn name(&self) -> &str {
        self.uuid.as_deref().unwrap_or_default()
    }

    /// When it was written, if it says so.
    pub(super) fn at(&self) -> Option<Timestamp> {
        parse_time(self.timestamp.as_deref()?)
    }

    pub(super) fn is_sidechain(&self) -> bool {
        self.is_sidechain.unwrap_or(false)
    }

    pub(super) fn is_meta(&self) -> bool {
        self.is_meta.unwrap_or(false)
    }

    pub(super) fn is_compact_summary(&self) -> bool {
        self.is_compact_summary.unwrap_or(false)
    }

    /// The model's message: its name (or else the line's), model and tokens.
    pub(super) fn message(&self) -> Message<'_> {
        let message = self.message.as_ref();
        Message {
            id: message
                .and_then(|message| message.id.as_deref())
                .filter(|id| !id.trim().is_empty())
                .unwrap_or(self.name()),
            model: message.and_then(|message| message.model.as_deref()),
            usage: message.and_then(|message| message.usage.as_ref()),
        }
    }

    /// All texts of the message, one below the other.
    pub(super) fn texts(&self) -> String {
        let text = |block: &Block| match &block.part {
            Part::Text(text) => Some(text.clone()),
            _ => None,
        };
        let texts: Vec<String> = self.blocks.iter().filter_map(text).collect();
        texts.join("\n")
    }

    /// How many tokens a frame of it takes, if they were counted ahead. Frame 0 is of the line, and
    /// those above are of the message's parts.
    pub(super) fn tokens(&self, frame: usize) -> Option<u64> {
        self.tokens.get(frame).copied().flatten()
    }

    /// The text of a frame that the model saw: a result whole, other texts as far as they are kept.
    fn seen(&self, frame: usize) -> Option<String> {
        let kept = |text: &str| Some(map::bounded(text).to_owned());
        let is_user = self.kind.as_deref() == Some("user");
        let Some(part) = frame.checked_sub(1) else {
            return match self.kind.as_deref() {
                Some("user") => kept(&self.texts()),
                Some("system") => kept(&tool::text_of(self.content.as_deref())),
                _ => None,
            };
        };
        match &self.blocks.get(part)?.part {
            Part::Thinking(text) => kept(text),
            Part::Text(text) if !is_user => kept(text),
            Part::ToolResult { content, .. } if is_user => tool::said(content.as_deref()),
            _ => None,
        }
    }
}

impl Line {
    /// Counts the tokens of its frames before it is known whether they are recorded.
    pub(super) fn count_ahead(&mut self) {
        if let What::User(talk) | What::Assistant(talk) | What::System(talk) = &mut self.what {
            let count = |frame| Some(tokens::estimate(&talk.seen(frame)?));
            talk.tokens = (0..=talk.blocks.len()).map(count).collect();
        }
    }
}

/// What a line says of the message that it is a part of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message<'a> {
    pub(super) id: &'a str,
    pub(super) model: Option<&'a str>,
    pub(super) usage: Option<&'a Usage>,
}

#[derive(Debug, Deserialize)]
struct RawMessage {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    content: Option<Box<RawValue>>,
    #[serde(default)]
    usage: Option<Usage>,
}

/// The tokens of a message so far. What is null is there, and counts nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub(super) struct Usage {
    #[serde(default, deserialize_with = "present")]
    input_tokens: Option<Option<u64>>,
    #[serde(default, deserialize_with = "present")]
    cache_read_input_tokens: Option<Option<u64>>,
    #[serde(default, deserialize_with = "present")]
    cache_creation_input_tokens: Option<Option<u64>>,
    #[serde(default, deserialize_with = "present")]
    output_tokens: Option<Option<u64>>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<u64>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl Usage {
    fn all(&self) -> [Option<Option<u64>>; 4] {
        [
            self.input_tokens,
            self.cache_read_input_tokens,
            self.cache_creation_input_tokens,
            self.output_tokens,
        ]
    }

    /// Uncached input, cache reads, cache writes, output.
    pub(super) fn totals(&self) -> [u64; 4] {
        self.all().map(|count| count.flatten().unwrap_or_default())
    }

    /// Which of them the line has, in the same order: 1 for each that it has.
    pub(super) fn fields(&self) -> [u64; 4] {
        self.all().map(|count| u64::from(count.is_some()))
    }
}

/// A part of a message.
#[derive(Debug)]
pub(super) struct Block {
    /// Its JSON; none for a message that is one text.
    pub(super) raw: Option<Box<RawValue>>,
    pub(super) part: Part,
}

/// What a part of a message is.
#[derive(Debug)]
pub(super) enum Part {
    Text(String),
    Thinking(String),
    ToolUse {
        id: Option<String>,
        name: String,
        input: Option<Box<RawValue>>,
    },
    ToolResult {
        tool_use: Option<String>,
        content: Option<Box<RawValue>>,
        is_error: bool,
    },
    /// A part of another type, by its name: an image, a search's result.
    Other(String),
}

#[derive(Debug, Deserialize)]
struct RawBlock {
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    input: Option<Box<RawValue>>,
    #[serde(default)]
    tool_use_id: Option<String>,
    #[serde(default)]
    content: Option<Box<RawValue>>,
    #[serde(default)]
    is_error: Option<bool>,
}

/// The line of a summary.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Summary {
    #[serde(skip)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) summary: Option<String>,
    #[serde(default)]
    pub(super) leaf_uuid: Option<String>,
}

/// A JSON text with U+FFFD for every half of a surrogate pair. JavaScript
/// writes such halves where it cuts a text within a character.
fn whole_characters(text: String) -> String {
    let is_escape = |at: usize, halves: [u8; 2]| {
        let Some([b'\\', b'u', d, half, rest @ ..]) = text.as_bytes().get(at..at + 6) else {
            return false;
        };
        d.eq_ignore_ascii_case(&b'd')
            && (halves[0]..=halves[1]).contains(&half.to_ascii_lowercase())
            && rest.iter().all(u8::is_ascii_hexdigit)
    };
    let (high, low) = ([b'8', b'b'], [b'c', b'f']);
    if !text.contains("\\ud") && !text.contains("\\uD") {
        return text;
    }
    let mut whole = String::with_capacity(text.len());
    let mut rest = 0;
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|left| left.find('\\')) {
        at += found;
        if is_escape(at, high) && is_escape(at + 6, low) {
            at += 12;
        } else if is_escape(at, high) || is_escape(at, low) {
            whole.push_str(text.get(rest..at).unwrap_or_default());
            whole.push_str("\\ufffd");
            at = (at + 6).min(text.len());
            rest = at;
        } else {
            at += 2;
        }
    }
    whole.push_str(text.get(rest..).unwrap_or_default());
    whole
}

/// Reads a line, which is called by a secret of the log if it has no name; the error says what is
/// wrong with it.
pub(super) fn parse(bytes: Vec<u8>, secret: Option<&IdSecret>) -> Result<Line, BadLine> {
    #[derive(Deserialize)]
    struct Head {
        #[serde(default, rename = "type")]
        kind: Option<String>,
    }
    let text = String::from_utf8(bytes).map_err(|error| BadLine::NotUtf8 {
        byte: error.utf8_error().valid_up_to() + 1,
    })?;
    let text = whole_characters(text);
    // serde would read a list as an object's fields in their order.
    if !text.trim_start().starts_with('{') {
        // What is no JSON at all is better called so.
        serde_json::from_str::<serde::de::IgnoredAny>(&text)?;
        return Err(BadLine::NotAnObject);
    }
    let kind = serde_json::from_str::<Head>(&text)?.kind;
    let what = match kind.as_deref() {
        Some("user") => What::User(talk(&text, secret)?),
        Some("assistant") => What::Assistant(talk(&text, secret)?),
        Some("system") => What::System(talk(&text, secret)?),
        Some("attachment") => What::Attachment(talk(&text, secret)?),
        Some("summary") => What::Summary(Summary {
            name: ids::anonymous(text.as_bytes(), secret),
            ..serde_json::from_str(&text)?
        }),
        Some(kind) if WITHOUT_PLACE.contains(&kind) => What::WithoutPlace(kind.to_owned()),
        Some(kind) => What::Unknown(kind.to_owned()),
        None => What::Unknown("(none)".to_owned()),
    };
    Ok(Line { text, what })
}

fn talk(text: &str, secret: Option<&IdSecret>) -> Result<Box<Talk>, BadLine> {
    let mut talk: Box<Talk> = serde_json::from_str(text)?;
    if talk
        .uuid
        .as_deref()
        .is_none_or(|uuid| uuid.trim().is_empty())
    {
        talk.uuid = Some(ids::anonymous(text.as_bytes(), secret));
    }
    let content = talk
        .message
        .as_mut()
        .and_then(|message| message.content.take());
    talk.blocks = content.map_or_else(|| Ok(Vec::new()), |content| blocks(&content))?;
    Ok(talk)
}

fn blocks(content: &RawValue) -> Result<Vec<Block>, BadLine> {
    if content.get().starts_with('"') {
        let part = Part::Text(within("message.content", content)?);
        return Ok(vec![Block { raw: None, part }]);
    }
    let list: Vec<Box<RawValue>> = within("message.content", content)?;
    list.into_iter().map(block).collect()
}

fn block(raw: Box<RawValue>) -> Result<Block, BadLine> {
    let read: RawBlock = within("message.content[]", &raw)?;
    let part = match read.kind.as_deref() {
        Some("text") => Part::Text(read.text.unwrap_or_default()),
        Some("thinking") => Part::Thinking(read.thinking.unwrap_or_default()),
        Some("tool_use") => Part::ToolUse {
            id: read.id,
            name: read.name.unwrap_or_default(),
            input: read.input,
        },
        Some("tool_result") => Part::ToolResult {
            tool_use: read.tool_use_id,
            content: read.content,
            is_error: read.is_error.unwrap_or(false),
        },
        Some(kind) => Part::Other(kind.to_owned()),
        None => Part::Other("(none)".to_owned()),
    };
    let raw = Some(raw);
    Ok(Block { raw, part })
}

fn within<T: DeserializeOwned>(path: &'static str, raw: &RawValue) -> Result<T, BadLine> {
    serde_json::from_str(raw.get()).map_err(|source| BadLine::Within { path, source })
}

/// A time as RFC 3339 writes it.
pub(super) fn parse_time(text: &str) -> Option<Timestamp> {
    let time = chrono::DateTime::parse_from_rfc3339(text).ok()?;
    Some(Timestamp::from(time.to_utc()))
}

/// What is wrong with a line.
#[derive(Debug, thiserror::Error)]
pub(super) enum BadLine {
    #[error("it is not UTF-8 from byte {byte} on")]
    NotUtf8 { byte: usize },
    #[error("it is no JSON object")]
    NotAnObject,
    #[error("{}", in_line(.0))]
    Json(#[from] serde_json::Error),
    #[error("in {path}: {}", in_line(.source))]
    Within {
        path: &'static str,
        source: serde_json::Error,
    },
}

/// serde_json counts lines within the text that it was given; there is one.
fn in_line(error: &serde_json::Error) -> String {
    error
        .to_string()
        .replace(" at line 1 column ", " at column ")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::*;

    fn refused(line: &[u8]) -> String {
        parse(line.to_vec(), None).unwrap_err().to_string()
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        assert_eq!(
            refused(b"{\"type\":\"user\""),
            "EOF while parsing an object at column 14"
        );
        assert_eq!(refused(b"[1]"), "it is no JSON object");
        assert_eq!(refused(b"nonsense"), "expected ident at column 2");
        assert_eq!(
            refused(b"{\"type\":\"\xff\"}"),
            "it is not UTF-8 from byte 10 on"
        );
        let wrong = refused(br#"{"type":"user","uuid":5}"#);
        assert_eq!(
            wrong,
            "invalid type: integer `5`, expected a string at column 23"
        );
        let wrong = refused(br#"{"type":"user","message":{"content":[{"type":7}]}}"#);
        let expected =
            "in message.content[]: invalid type: integer `7`, expected a string at column 9";
        assert_eq!(wrong, expected);
        let wrong = refused(br#"{"type":"assistant","message":{"usage":{"input_tokens":-1}}}"#);
        assert!(wrong.starts_with("invalid value: integer `-1`"), "{wrong}");
    }

    #[test]
    fn a_line_of_an_unknown_type_may_have_any_fields() {
        let line = parse(
            br#"{"type":"novelty","uuid":5,"message":[]}"#.to_vec(),
            None,
        )
        .unwrap();
        assert!(matches!(line.what, What::Unknown(kind) if kind == "novelty"));
        let line = parse(b"{}".to_vec(), None).unwrap();
        assert!(matches!(line.what, What::Unknown(kind) if kind == "(none)"));
    }

    #[test]
    fn nulls_are_as_good_as_nothing() {
        let line =
            br#"{"type":"user","uuid":null,"isMeta":null,"message":{"content":null,"usage":null}}"#;
        let What::User(talk) = parse(line.to_vec(), None).unwrap().what else {
            panic!("a user's line is expected");
        };
        assert!(talk.blocks.is_empty() && !talk.is_meta() && !talk.name().is_empty());
    }

    #[test]
    fn depth_is_no_obstacle() {
        let deep = format!("{}1{}", "[".repeat(1_000), "]".repeat(1_000));
        let line = format!(
            r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","input":{deep}}}]}}}}"#
        );
        assert!(parse(line.into_bytes(), None).is_ok());
    }

    #[test]
    fn half_characters_are_replaced() {
        let whole = |text: &str| whole_characters(text.to_owned());
        assert_eq!(whole(r#""a\ud83d\ude00""#), r#""a\ud83d\ude00""#);
        assert_eq!(whole(r#""a\ud83d""#), r#""a\ufffd""#);
        assert_eq!(whole(r#""\uDE00\ud83dx""#), r#""\ufffd\ufffdx""#);
        // A backslash that is escaped begins nothing.
        assert_eq!(whole(r#""\\ud83d""#), r#""\\ud83d""#);
        assert_eq!(whole("\\ud8\\"), "\\ud8\\");
    }
}
