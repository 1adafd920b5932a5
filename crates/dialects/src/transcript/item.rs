//! What a recording says, free of its format: entries of items.
//!
//! A format turns each line (or message of a document) into an [`Entry`]: where it belongs, and
//! its items in the order in which they are recorded. Nothing here knows a format, and nothing
//! a log.

use annals_domain::Timestamp;
use annals_domain::pipeline::FrameKind;
use annals_domain::run::{GrantScope, ToolDecider, ToolVerdict};
use annals_event_log::Digest;
use serde::Serialize;
use serde_json::value::RawValue;

use super::agent::Agent;
pub(crate) use super::counts::{COUNTS, Counts};
use super::texts::{self, Part};
use crate::import::fields::{self, NOTHING, Table};
use crate::report::Fields;
use crate::tokens;

/// What one line is, or one message of a document.
#[derive(Debug)]
pub(crate) enum Read {
    /// It belongs to a session.
    Entry(Box<Entry>),
    /// A summary of an earlier conversation, which names no session.
    Summary(Summary),
    /// Who called a sub-agent. It comes before what the sub-agent says, or not at all.
    SubAgent(SubAgent),
    /// Which files the program had copies of, to take back what the model did.
    Backups(Backups),
    /// A known type without anything that a log has a place for.
    Skipped { kind: String, text: String },
    /// What belongs to something that has not been read: a later import may have it.
    Waits { kind: String },
    /// A type that is not known.
    Unknown { kind: String, text: String },
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// A person, or a tool with its result.
    User,
    /// The model.
    Model,
    /// The program around the model.
    Program,
}

/// The chain of its session that an entry belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Course {
    /// The session's own.
    Main,
    /// A side chain (a sub-agent's), by its name.
    Side(String),
    /// A side chain without a name: that of the entry's parent, or one that begins here.
    Beside,
}

/// What a line says, with where it belongs.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The line's JSON, and what becomes of its fields but for those of its items.
    pub(crate) text: String,
    pub(crate) table: Table,
    /// The session's name; none where the line has none, and its file's name stands for it.
    pub(crate) session: Option<String>,
    /// The session in which older versions recorded the side chain. A log that has it there keeps it there.
    pub(crate) older_session: Option<String>,
    pub(crate) course: Course,
    /// What the recording calls the line. Ids and keys follow from it.
    pub(crate) name: String,
    /// The line that it follows.
    pub(crate) parent: Option<String>,
    /// When it was written, if it says so.
    pub(crate) at: Option<Timestamp>,
    /// Where it was written; none where the line does not belong to the conversation.
    pub(crate) setting: Option<Setting>,
    pub(crate) speaker: Speaker,
    /// The message that it is a part of, if that has a name of its own.
    pub(crate) message: Option<String>,
    pub(crate) model: Option<String>,
    /// What the agent's program calls the prompt that the line is of, in what it tells as it works, too.
    pub(crate) prompt: Option<String>,
    pub(crate) usage: Option<Usage>,
    /// The model by which the usage is priced, if that is not the message's: a faster service of it.
    pub(crate) priced_as: Option<String>,
    /// What the message used of other models, which its usage does not have.
    pub(crate) beside: Vec<ModelUsage>,
    /// What the format calls this kind of line in addition to its type.
    pub(crate) subtype: Option<String>,
    /// Where the line comes from; its frames keep it.
    pub(crate) origin: Origin,
    /// What the recording has of tool results in addition to what the model saw.
    pub(crate) details: Option<Details>,
    /// In the order in which they are recorded.
    pub(crate) items: Vec<Item>,
    /// What the program dropped of the context that it says this in place of.
    pub(crate) dropped: Dropped,
    /// What is known of who let the calls through whose results it has, or did not.
    pub(crate) decisions: Vec<CallDecision>,
    /// The frame by which older versions recorded the line. A log that has it keeps that, and nothing else of the line.
    pub(crate) older_frame: Option<usize>,
    pub(crate) said: Said,
}

impl Entry {
    /// An entry of the conversation itself, without anything in it.
    pub(crate) fn new(
        text: String,
        table: Table,
        name: String,
        speaker: Speaker,
        said: Said,
    ) -> Entry {
        Entry {
            text,
            table,
            session: None,
            older_session: None,
            course: Course::Main,
            name,
            parent: None,
            at: None,
            setting: None,
            speaker,
            message: None,
            model: None,
            prompt: None,
            usage: None,
            priced_as: None,
            beside: Vec::new(),
            subtype: None,
            origin: Origin::default(),
            details: None,
            items: Vec::new(),
            dropped: Dropped::Nothing,
            decisions: Vec::new(),
            older_frame: None,
            said,
        }
    }

    /// Shortens the names that lists show without reading blobs: the directory, the branch, the version and the model.
    pub(super) fn shorten_names(&mut self) {
        let setting = self.setting.iter_mut();
        let names = setting.flat_map(|it| [&mut it.cwd, &mut it.git_branch, &mut it.version]);
        let names = names.chain([
            &mut self.model,
            &mut self.priced_as,
            &mut self.origin.git_branch,
        ]);
        names.flatten().for_each(texts::shorten_name);
        let models = self.beside.iter_mut().map(|beside| &mut beside.model);
        models.for_each(texts::shorten_name);
    }

    /// The name of its message, or else its own.
    pub(crate) fn message(&self) -> &str {
        self.message.as_deref().unwrap_or(&self.name)
    }

    /// Counts the tokens of its frames before it is known whether they are recorded.
    pub(crate) fn count_ahead(&mut self) {
        for item in &mut self.items {
            item.tokens = item.seen().map(|text| tokens::estimate(&text));
        }
    }
}

/// A part of an entry.
#[derive(Debug)]
pub(crate) struct Item {
    /// The number of its frame within the line.
    pub(crate) frame: usize,
    /// The path of the field that it is, for the report.
    pub(crate) path: &'static str,
    /// The JSON that it was read from, each with what becomes of its fields.
    pub(crate) sources: Vec<Source>,
    pub(crate) what: What,
    /// How many tokens its frame takes, if they were counted ahead.
    pub(crate) tokens: Option<u64>,
}

impl Item {
    pub(crate) fn new(frame: usize, path: &'static str, sources: Vec<Source>, what: What) -> Item {
        Item {
            frame,
            path,
            sources,
            what,
            tokens: None,
        }
    }

    /// What one value says, where there is one.
    pub(crate) fn of(
        frame: usize,
        path: &'static str,
        raw: Option<&RawValue>,
        table: Table,
        what: What,
    ) -> Item {
        let sources = raw.map(|raw| Source::of(path, raw, table));
        Item::new(frame, path, sources.into_iter().collect(), what)
    }
}

/// A value of the recording that an item was read from.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) path: &'static str,
    /// None where the whole value is one text, which is kept.
    pub(crate) raw: Option<Box<RawValue>>,
    pub(crate) table: Table,
}

impl Source {
    pub(crate) fn of(path: &'static str, raw: &RawValue, table: Table) -> Source {
        Source {
            path,
            raw: Some(raw.to_owned()),
            table,
        }
    }

    /// A value that is one text, which is kept.
    pub(crate) fn text(path: &'static str) -> Source {
        Source {
            path,
            raw: None,
            table: NOTHING,
        }
    }
}

/// What an item is.
#[derive(Debug)]
pub(crate) enum What {
    /// A text in a user's line. In a side chain without a title it begins the chain.
    Prompt {
        text: String,
        /// What of it a person asked for; none where no person did.
        asked: Option<String>,
        /// Whether it is the summary that a compaction left.
        is_summary: bool,
    },
    /// A text of the model's.
    Text(String),
    /// A thought of the model's.
    Thinking(String),
    ToolCall {
        id: String,
        name: String,
        input: Option<Box<RawValue>>,
        /// The path of the input, for the report.
        input_path: &'static str,
    },
    ToolResult {
        /// The id of its call.
        call: String,
        content: Option<Box<RawValue>>,
        is_error: bool,
        /// The paths of the content and of whether it is an error, for the report.
        content_path: &'static str,
        error_path: &'static str,
    },
    /// What the program says.
    Said {
        kind: FrameKind,
        text: String,
        /// What a compaction says of itself.
        compaction: Option<Box<RawValue>>,
    },
    /// What happened around the conversation and is not a part of it: a hook that ran, a call that a
    /// person refused, another permission mode. Evidence of the run keeps it.
    Evidence(Evidence),
    /// A part without a place of its own: a frame keeps it as it is, unless it is too long.
    Whole {
        kind: FrameKind,
        summary: String,
        part: Option<Part>,
    },
}

impl What {
    /// A value that has no place of its own.
    pub(crate) fn whole(kind: &str, raw: &RawValue) -> What {
        let kind = texts::kind_name(kind);
        What::Whole {
            kind: FrameKind::Other(kind.clone()),
            summary: kind,
            part: texts::part(Some(raw)),
        }
    }

    /// Returns `true` if a frame of its own keeps it.
    pub(super) fn makes_a_frame(&self) -> bool {
        match self {
            What::Text(text) | What::Thinking(text) => !text.trim().is_empty(),
            What::Prompt { .. } | What::Said { .. } | What::Whole { .. } => true,
            What::ToolCall { .. } | What::ToolResult { .. } | What::Evidence(_) => false,
        }
    }
}

impl Item {
    /// Counts the fields that it was read from; those at the `lost` paths as lost.
    pub(super) fn count(&self, lost: &[&str], fields: &mut Fields) {
        for source in &self.sources {
            match &source.raw {
                Some(raw) => fields::count(raw.get(), source.path, source.table, lost, fields),
                None => fields.kept(source.path),
            }
        }
    }

    /// The text that the model saw of it: a result whole, other texts as far as they are kept.
    fn seen(&self) -> Option<String> {
        let kept = |text: &str| Some(texts::bounded(text).to_owned());
        match &self.what {
            What::Prompt { text, .. }
            | What::Text(text)
            | What::Thinking(text)
            | What::Said { text, .. } => kept(text),
            What::ToolResult { content, .. } => texts::said(content.as_deref()),
            What::ToolCall { .. } | What::Evidence(_) | What::Whole { .. } => None,
        }
    }
}

/// What the recording knows of a decision on a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallDecision {
    /// The id of the call.
    pub(crate) call: String,
    pub(crate) verdict: ToolVerdict,
    pub(crate) by: ToolDecider,
    /// The name of what decided, such as the mode's.
    pub(crate) by_name: Option<String>,
    pub(crate) reason: Option<String>,
    /// The settings that a rule is from.
    pub(crate) source: Option<String>,
    /// How long a person's decision holds.
    pub(crate) scope: Option<GrantScope>,
    /// What the program was allowed to do without asking.
    pub(crate) mode: Option<String>,
    /// Whether the recording does not state it.
    pub(crate) inferred: bool,
}

impl CallDecision {
    /// A decision that the recording states.
    pub(crate) fn new(call: &str, verdict: ToolVerdict, by: ToolDecider) -> CallDecision {
        CallDecision {
            call: call.to_owned(),
            verdict,
            by,
            by_name: None,
            reason: None,
            source: None,
            scope: None,
            mode: None,
            inferred: false,
        }
    }
}

/// What happened around the conversation.
#[derive(Debug)]
pub(crate) struct Evidence {
    pub(crate) kind: &'static str,
    /// Whether a person did it, and not the program.
    pub(crate) is_by_person: bool,
    /// What it was done with, or to; not blank.
    pub(crate) tool: String,
    pub(crate) command: Option<String>,
    pub(crate) exit_code: Option<i32>,
    pub(crate) summary: Option<String>,
    /// All that the recording has of it.
    pub(crate) report: Option<Part>,
}

/// What a compaction or a condensation takes out of the model's context. It goes before the first
/// checkpoint of the entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Dropped {
    #[default]
    Nothing,
    /// All that was before.
    All,
    /// What some lines said.
    Lines(Vec<DroppedLine>),
}

/// A line that the model does not see any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DroppedLine {
    pub(crate) name: String,
    /// The tool call that it is a part of; a call and its result have one frame.
    pub(crate) call: Option<String>,
}

/// Who called a sub-agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SubAgent {
    pub(crate) session: Option<String>,
    /// The name of its side chain.
    pub(crate) name: String,
    /// The call that it works for.
    pub(crate) call: Option<String>,
    /// The side chain of the sub-agent that called it; none where the session itself did, or that is not known.
    pub(crate) parent: Option<String>,
}

/// The subtype of an entry that has a prompt which was queued while the agent worked.
pub(crate) const QUEUED: &str = "queued_command";

/// The subtype of an entry that repeats such a prompt.
pub(crate) use annals::projections::REPEATED_PROMPT as REPEATED;

/// The line of a summary.
#[derive(Debug)]
pub(crate) struct Summary {
    pub(crate) name: String,
    pub(crate) summary: String,
    /// The line that it sums up to.
    pub(crate) leaf: Option<String>,
    pub(crate) fields: Fields,
}

/// Copies of files that the program made before the model changed them.
#[derive(Debug)]
pub(crate) struct Backups {
    pub(crate) name: String,
    /// The line of the prompt that they belong to.
    pub(crate) prompt: Option<String>,
    pub(crate) at: Option<Timestamp>,
    /// In the order of their lines' members.
    pub(crate) files: Vec<Backup>,
    pub(crate) fields: Fields,
}

/// A file that the program had a copy of.
#[derive(Debug)]
pub(crate) struct Backup {
    /// Its path, not blank.
    pub(crate) path: String,
    /// Which copy it is, for people.
    pub(crate) copy: String,
}

/// Where a line comes from, as it says itself: it may differ from one line to the next.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Origin {
    /// The provider's name for the request that the message answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request: Option<String>,
    /// Why the model stopped there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stop_reason: Option<String>,
    /// The branch that was checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) git_branch: Option<String>,
    /// The call of the script that made the line's call. The model did not see its result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) script: Option<String>,
}

/// Where work was begun.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) cwd: Option<String>,
    pub(crate) git_branch: Option<String>,
    /// The version of the agent's program.
    pub(crate) version: Option<String>,
    /// The name of the session that it was forked from, or continues under a name of its own.
    pub(crate) continues: Option<String>,
}

impl Setting {
    /// The paths of the fields of another setting that say something else than this does. They
    /// have no place in the log: a run has one environment.
    pub(super) fn differing(&self, other: &Setting, agent: &Agent) -> Vec<&'static str> {
        let pairs = [
            (&self.cwd, &other.cwd),
            (&self.git_branch, &other.git_branch),
            (&self.version, &other.version),
        ];
        let differs =
            |(ours, theirs): (&Option<String>, &Option<String>)| theirs.is_some() && ours != theirs;
        let paths = agent.setting_paths.into_iter().zip(pairs);
        let differing = paths.filter(|(_, pair)| differs(*pair));
        differing.map(|(path, _)| path).collect()
    }
}

/// The tokens of a message so far, and what they cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Usage {
    pub(crate) totals: Counts,
    /// Which of them the line has, in the same order: 1 for each that it has.
    pub(crate) fields: Counts,
}

impl Usage {
    /// The tokens that a line has: uncached input, cache reads, cache writes, output.
    pub(crate) fn of(counts: [Option<u64>; 4]) -> Usage {
        let [input, read, write, output] = counts;
        let all = [input, read, write, output, None, None, None, None];
        Usage {
            totals: all.map(Option::unwrap_or_default),
            fields: all.map(|count| u64::from(count.is_some())),
        }
    }

    /// The same with the part of the output that the model thought with.
    pub(crate) fn with_reasoning(mut self, tokens: Option<u64>) -> Usage {
        let [.., output, reasoning, _, _, _] = &mut self.totals;
        *reasoning = tokens.unwrap_or_default().min(*output);
        self
    }

    /// The same with the part of the cache writes that stays for an hour.
    pub(crate) fn with_kept_for_an_hour(mut self, tokens: Option<u64>) -> Usage {
        let [_, _, write, _, _, hour, _, _] = &mut self.totals;
        *hour = tokens.unwrap_or_default().min(*write);
        self
    }

    /// The same with what the program says that it cost, in USD; what is no amount of money is not there.
    pub(crate) fn with_cost(mut self, usd: Option<f64>) -> Usage {
        let [.., cost, _] = &mut self.totals;
        *cost = usd.map(billionths).unwrap_or_default();
        self
    }

    /// The same with searches of the web, if the line has a number of them.
    pub(crate) fn with_web_searches(mut self, count: Option<u64>) -> Usage {
        let ([.., searches], [.., field]) = (&mut self.totals, &mut self.fields);
        *searches = count.unwrap_or_default();
        *field = u64::from(count.is_some());
        self
    }

    /// The same where the fields of those three are counted, too: 1 for each that the line has.
    pub(crate) fn with_fields(mut self, reasoning: bool, hour: bool, cost: bool) -> Usage {
        let [.., reasoned, kept, paid, _] = &mut self.fields;
        [*reasoned, *kept, *paid] = [reasoning, hour, cost].map(u64::from);
        self
    }

    /// Its tokens as older versions of this program counted them, which names of lines have.
    pub(crate) fn tokens(&self) -> [u64; 4] {
        tokens_of(&self.totals)
    }
}

/// Uncached input, cache reads, cache writes and output.
pub(crate) fn tokens_of(counts: &Counts) -> [u64; 4] {
    let [input, read, write, output, ..] = *counts;
    [input, read, write, output]
}

/// An amount in USD in billionths, rounded to the nearest; 0 for what is no amount, or is too large to be one.
fn billionths(usd: f64) -> u64 {
    let billionths = (usd * 1e9).round();
    // Above it not every whole number has a float of its own.
    match billionths.is_finite() && (0.0..=9e15).contains(&billionths) {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is a whole number in range"
        )]
        true => billionths as u64,
        false => 0,
    }
}

/// The tokens of a model that a message used beside its own, such as an advisor's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelUsage {
    /// The model's name. Keys follow from it and from the message's name.
    pub(crate) model: String,
    pub(crate) usage: Usage,
}

/// What the recording has of a tool's result in addition to what the model saw.
#[derive(Debug)]
pub(crate) struct Details {
    pub(crate) path: &'static str,
    pub(crate) raw: Box<RawValue>,
    /// What becomes of its fields.
    pub(crate) table: Table,
    /// The same where the call is an edit.
    pub(crate) edit_table: Table,
    /// How long the call took, as the tool says.
    pub(crate) duration_ms: Option<u64>,
}

/// What a line says, as digests, to tell a copy of it from another line of the same name. Times,
/// parents and folders are not a part of it: copies may have others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Said {
    all: Digest,
    /// What the recording has of tool results; not every copy has it.
    details: Option<Digest>,
}

impl Said {
    pub(crate) fn of(parts: &[Option<&str>], details: Option<&RawValue>) -> Said {
        Said {
            // No two lists of texts are one JSON, and each can be written as JSON.
            all: Digest::of(&serde_json::to_vec(parts).unwrap_or_default()),
            details: details.map(|details| Digest::of(details.get().as_bytes())),
        }
    }

    pub(super) fn is_same(&self, other: &Said) -> bool {
        let details = self.details.zip(other.details);
        self.all == other.all && details.is_none_or(|(ours, theirs)| ours == theirs)
    }
}
