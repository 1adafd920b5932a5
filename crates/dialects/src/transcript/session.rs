//! What is remembered of sessions while their recordings are read: little, and
//! of what is over, next to nothing.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use annals_domain::{IntentId, Json, Timestamp};
use serde::Serialize;
use serde_json::value::RawValue;

use super::batch::{ImportBatch, Load};
use super::claim::Call;
use super::ids::{ChainIds, Ids};
use super::item::{Counts, Origin, Setting};

/// A session: its own course and its side chains.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) name: String,
    ids: Ids,
    /// The intent of the first prompt.
    pub(super) first_intent: Option<IntentId>,
    /// The intent of the newest prompt, which the next one refines.
    pub(super) last_intent: Option<IntentId>,
    /// The time of the newest line.
    pub(super) at: Timestamp,
    /// The course of the session itself, under the empty name, and its side
    /// chains, each under its own.
    chains: BTreeMap<String, Chain>,
    /// The side chain that was heard of last.
    pub(super) newest_side: Option<String>,
    /// Tool calls whose result has not been read yet.
    pub(super) waiting: Vec<PendingToolCall>,
    /// What the first results of its tool calls say, as numbers to be compared.
    answers: HashMap<String, u64>,
    /// Who called the sub-agents of its side chains.
    pub(super) callers: HashMap<String, Caller>,
    /// The side chains of calls, by the calls' ids.
    pub(super) side_calls: HashMap<String, String>,
}

/// Who called a sub-agent, as far as that is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Caller {
    /// The call's id.
    pub(super) call: Option<String>,
    /// The side chain of the sub-agent that made it.
    pub(super) chain: Option<String>,
}

/// Which result of its call a result is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// The first one that was read.
    First,
    /// One that says the same as the first one: a copy of its line.
    Copy,
    /// One that says something else.
    Another,
}

/// What stands for a tool without a name.
const NO_NAME: &str = "(unnamed)";

/// The name of a session's own course among its chains.
pub(super) const MAIN: &str = "";

impl Session {
    pub(super) fn new(ids: Ids, name: &str) -> Session {
        Session {
            name: name.to_owned(),
            ids,
            first_intent: None,
            last_intent: None,
            at: Timestamp::EPOCH,
            chains: BTreeMap::new(),
            newest_side: None,
            waiting: Vec::new(),
            answers: HashMap::new(),
            callers: HashMap::new(),
            side_calls: HashMap::new(),
        }
    }

    /// Whether a call is one of the session's own course, or may be one: it was read, and not in a side chain.
    pub(super) fn has_own_call(&self, id: &str) -> bool {
        let is_known =
            self.answers.contains_key(id) || self.waiting.iter().any(|call| call.id == id);
        is_known && !self.side_calls.contains_key(id)
    }

    /// Remembers a result, and says which one of its call it is.
    pub(super) fn hear(&mut self, tool_use: &str, content: &str) -> Heard {
        let mut hasher = DefaultHasher::new();
        content.hash(&mut hasher);
        let said = hasher.finish();
        match self.answers.entry(tool_use.to_owned()) {
            Entry::Vacant(entry) => {
                entry.insert(said);
                Heard::First
            }
            Entry::Occupied(entry) if *entry.get() == said => Heard::Copy,
            Entry::Occupied(_) => Heard::Another,
        }
    }

    /// A chain by its name; it begins when it is first requested.
    pub(super) fn chain(&mut self, name: &str) -> &mut Chain {
        let (ids, session) = (self.ids, &self.name);
        self.chains.entry(name.to_owned()).or_insert_with(|| {
            let ids = match name {
                MAIN => ids.session(session),
                side => ids.side_chain(session, side),
            };
            Chain::new(ids, name)
        })
    }

    pub(super) fn chains(&mut self) -> impl Iterator<Item = &mut Chain> {
        self.chains.values_mut()
    }

    /// Takes the call out that has this id.
    pub(super) fn answered(&mut self, tool_use: &str) -> Option<PendingToolCall> {
        let place = self.waiting.iter().position(|call| call.id == tool_use)?;
        let mut call = self.waiting.remove(place);
        let is_alone = !self.waiting.iter().any(|other| other.chain == call.chain);
        let chain = self.chain(&call.chain);
        let is_next = |place: &ChainPlace| chain.place.is_behind(place);
        if is_alone && call.place.as_ref().is_some_and(is_next) {
            call.place = None;
            chain.place = ChainPlace {
                call: Some(call.id.clone()),
                ..ChainPlace::default()
            };
        }
        Some(call)
    }

    /// Doubts that the calls that wait will get a result: there is another
    /// prompt. (One that was queued may come before the result.)
    pub(super) fn doubt(&mut self) {
        for call in &mut self.waiting {
            call.doubted = true;
        }
    }

    /// Takes out the calls that get no result any more: there was another
    /// prompt, and the model has begun another message.
    pub(super) fn given_up(&mut self, message: &str) -> Vec<PendingToolCall> {
        let over = |call: &mut PendingToolCall| call.doubted && call.message != message;
        self.waiting.extract_if(.., over).collect()
    }
}

/// One course of messages: a session's own, or a side chain.
#[derive(Debug)]
pub(super) struct Chain {
    pub(super) ids: ChainIds,
    /// [`MAIN`], or the side chain's name.
    pub(super) name: String,
    /// Whether its task, run, plan and pipeline are in the log.
    pub(super) is_ready: bool,
    /// Whether its run's provenance is in the log.
    pub(super) has_provenance: bool,
    /// The first prompt, or what a side chain was asked.
    pub(super) title: Option<String>,
    /// Where it was begun: from its first line.
    pub(super) setting: Option<Setting>,
    /// The chain of the session that it is a part of, if it is a side chain.
    pub(super) above: String,
    /// The message whose tokens are still being counted: its own, and those of other models in it.
    pub(super) usage: Vec<OpenUsage>,
    /// What came before its first prompt.
    pub(super) held: Vec<ImportBatch>,
    /// How many steps its plan has, once the log was asked.
    pub(super) steps: Option<u32>,
    /// What was read of it last.
    pub(super) place: ChainPlace,
}

/// A place in a chain: behind the newest text, or behind a call that was answered at once, and behind so many calls
/// since. The log has calls with their results, so that their order does not follow from it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct ChainPlace {
    /// The line of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<String>,
    /// How many texts of the line were read.
    #[serde(skip_serializing_if = "is_zero")]
    texts: usize,
    /// The call's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<String>,
    /// How many calls were made since.
    calls: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl ChainPlace {
    /// A text of a line was read.
    pub(super) fn read_text(&mut self, line: &str) {
        if self.line.as_deref() != Some(line) {
            *self = ChainPlace {
                line: Some(line.to_owned()),
                ..ChainPlace::default()
            };
        }
        self.texts += 1;
        self.calls = 0;
    }

    /// A call was read. Returns its place.
    pub(super) fn read_call(&mut self) -> ChainPlace {
        let place = self.clone();
        self.calls += 1;
        place
    }

    /// Nothing was read since a call but its result.
    fn is_behind(&self, call: &ChainPlace) -> bool {
        let is_next = self.calls == call.calls + 1;
        is_next && self.line == call.line && self.texts == call.texts && self.call == call.call
    }
}

impl Chain {
    fn new(ids: ChainIds, name: &str) -> Chain {
        Chain {
            ids,
            name: name.to_owned(),
            is_ready: false,
            has_provenance: false,
            title: None,
            setting: None,
            above: MAIN.to_owned(),
            usage: Vec::new(),
            held: Vec::new(),
            steps: None,
            place: ChainPlace::default(),
        }
    }

    pub(super) fn is_side(&self) -> bool {
        self.name != MAIN
    }
}

/// A tool call that waits for its result.
#[derive(Debug)]
pub(super) struct PendingToolCall {
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) input: Option<Box<RawValue>>,
    /// The line that it is on, and the message.
    pub(super) line_name: String,
    pub(super) message: String,
    pub(super) model: Option<String>,
    pub(super) at: Option<Timestamp>,
    /// Where its chain was when it was made; nothing, if its result follows it.
    pub(super) place: Option<ChainPlace>,
    pub(super) cwd: Option<String>,
    pub(super) origin: Origin,
    /// The chain that it belongs to.
    pub(super) chain: String,
    pub(super) doubted: bool,
    /// Whether the log has the request, which it has where the recording paused before the result.
    pub(super) is_requested: bool,
    pub(super) line: u64,
    pub(super) load: Load,
}

impl PendingToolCall {
    /// What it asks for; its arguments as they are stored.
    pub(super) fn asked<'a>(&'a self, args: Option<&'a Json>) -> Call<'a> {
        Call {
            tool: self.tool(),
            args,
            result: None,
        }
    }

    /// Whether it asks for the same as another call.
    pub(super) fn is_like(&self, other: &PendingToolCall) -> bool {
        let [ours, theirs] = [self, other].map(|call| call.input.as_deref().map(RawValue::get));
        self.tool() == other.tool() && ours == theirs
    }

    /// The tool's name.
    pub(super) fn tool(&self) -> &str {
        let name = self.tool.trim();
        if name.is_empty() { NO_NAME } else { name }
    }

    /// What it holds, in bytes.
    pub(super) fn size(&self) -> usize {
        self.input.as_ref().map_or(0, |input| input.get().len())
    }
}

/// The tokens of one model in a message whose last line may still come.
#[derive(Debug)]
pub(super) struct OpenUsage {
    pub(super) message: String,
    /// The model that the message used beside its own.
    pub(super) beside: Option<String>,
    pub(super) model: Option<String>,
    /// The model by which the message's own tokens are priced, if that is another one.
    pub(super) priced_as: Option<String>,
    pub(super) at: Timestamp,
    /// The totals that its lines had, without repetitions, the last one last.
    pub(super) totals: Vec<Total>,
    pub(super) line: u64,
}

impl OpenUsage {
    /// The name that keys follow from.
    pub(super) fn name(&self) -> String {
        usage_name(&self.message, self.beside.as_deref())
    }
}

/// The name of a message's usage, or of what it used of another model.
pub(super) fn usage_name(message: &str, beside: Option<&str>) -> String {
    match beside {
        Some(model) => format!("{message}\n{model}"),
        None => message.to_owned(),
    }
}

/// The tokens of a message as some of its lines have them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Total {
    pub(super) tokens: Counts,
    /// How many lines have each of them as a field.
    pub(super) lines: Counts,
}

impl Total {
    /// Another line has them, or some of them.
    pub(super) fn add_line(&mut self, fields: Counts) {
        for (lines, more) in self.lines.iter_mut().zip(fields) {
            *lines += more;
        }
    }
}

/// What is remembered of a message that is over.
#[derive(Debug)]
pub(super) struct Closed {
    /// Its session.
    pub(super) owner: String,
    /// Its tokens.
    pub(super) tokens: Counts,
    /// Whether this import recorded them.
    pub(super) is_new: bool,
}
