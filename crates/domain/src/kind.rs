//! The registry of object kinds: numbers, both names, and streams.
//!
//! git-internal gives every object type a number and a string identifier, and
//! writes a third word into `object_type`. This table is the only place that
//! knows them.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

use crate::codes::UnknownWord;

macro_rules! kinds {
    ($($(#[$meta:meta])* $variant:ident = $number:literal, $object_type:literal, $identifier:literal, $stream:expr;)+) => {
        /// A kind of objects: the eleven of git-internal, and our own.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind { $($(#[$meta])* $variant,)+ }

        impl Kind {
            /// All of them, by number.
            pub const ALL: &'static [Kind] = &[$(Kind::$variant,)+];

            /// The number: in git-internal's type registry, 8 to 18, and for our
            /// own kinds from 64 on.
            pub fn number(self) -> u8 {
                match self { $(Kind::$variant => $number,)+ }
            }

            /// The word in the `object_type` field.
            pub fn object_type(self) -> &'static str {
                match self { $(Kind::$variant => $object_type,)+ }
            }

            /// The string identifier, which the object's hash begins with.
            pub fn identifier(self) -> &'static str {
                match self { $(Kind::$variant => $identifier,)+ }
            }

            /// The kind of stream that holds the object's events: its own, or
            /// its run's.
            pub fn stream_kind(self) -> StreamKind {
                match self { $(Kind::$variant => $stream,)+ }
            }
        }
    };
}

kinds! {
    /// Static capture of what an agent observed when a run began.
    ContextSnapshot = 8, "context_snapshot", "snapshot", StreamKind::Snapshot;
    /// Terminal verdict of a run.
    Decision = 9, "decision", "decision", StreamKind::Run;
    /// Output of one validation step.
    Evidence = 10, "evidence", "evidence", StreamKind::Run;
    /// A candidate diff.
    PatchSet = 11, "patch_set", "patchset", StreamKind::Run;
    /// A sequence of steps derived from an intent.
    Plan = 12, "plan", "plan", StreamKind::Plan;
    /// How a run was executed: provider, model, tokens.
    Provenance = 13, "provenance", "provenance", StreamKind::Run;
    /// One execution attempt of a task.
    Run = 14, "run", "run", StreamKind::Run;
    /// A unit of work, stable across retries.
    Task = 15, "task", "task", StreamKind::Task;
    /// A request with its structured interpretation.
    Intent = 16, "intent", "intent", StreamKind::Intent;
    /// One tool call of a run.
    ToolInvocation = 17, "tool_invocation", "invocation", StreamKind::Run;
    /// Context frames that accumulate throughout the work.
    ContextPipeline = 18, "context_pipeline", "pipeline", StreamKind::Pipeline;
    /// An agent's work under a policy (docs/spec/contracts.md).
    Session = 64, "session", "session", StreamKind::Session;
    /// What an agent noticed (Forge's epiphanies and reflections).
    Observation = 65, "observation", "observation", StreamKind::Observation;
}

/// A type number outside git's own pack types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "object type {number} does not fit into a pack header, whose three bits hold 1 to 7 only; store the object as JSON instead"
)]
pub struct NotAPackType {
    /// The number of the object type.
    pub number: u8,
}

impl Kind {
    /// Whether it is one of the eleven of git-internal.
    pub fn is_git_internal(self) -> bool {
        self.number() <= Kind::ContextPipeline.number()
    }

    /// The eleven of git-internal, by number.
    pub fn git_internal() -> impl Iterator<Item = Kind> {
        Kind::ALL
            .iter()
            .copied()
            .filter(|kind| kind.is_git_internal())
    }

    /// The kind with this number.
    pub fn from_number(number: u8) -> Option<Kind> {
        Kind::ALL
            .iter()
            .copied()
            .find(|kind| kind.number() == number)
    }

    /// Always an error: the objects cannot be written into git packs.
    ///
    /// # Errors
    /// [`NotAPackType`], for every kind.
    pub fn to_pack_type(self) -> Result<u8, NotAPackType> {
        Err(NotAPackType {
            number: self.number(),
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.object_type())
    }
}

impl FromStr for Kind {
    type Err = UnknownWord;

    /// Reads either name.
    fn from_str(word: &str) -> Result<Kind, UnknownWord> {
        let known = |kind: &&Kind| kind.object_type() == word || kind.identifier() == word;
        Kind::ALL
            .iter()
            .find(known)
            .copied()
            .ok_or_else(|| UnknownWord {
                word: word.to_owned(),
                what: "Kind",
                known: &[
                    "intent",
                    "plan",
                    "task",
                    "run",
                    "patch_set",
                    "evidence",
                    "decision",
                    "provenance",
                    "tool_invocation",
                    "context_snapshot",
                    "context_pipeline",
                    "session",
                    "observation",
                ],
            })
    }
}

macro_rules! stream_kinds {
    ($($(#[doc = $meaning:literal])+ $variant:ident => $word:literal, $kind:expr;)+) => {
        /// The kinds of aggregates, each with a stream per instance.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum StreamKind { $($(#[doc = $meaning])+ $variant,)+ }

        impl StreamKind {
            /// All of them.
            pub const ALL: &'static [StreamKind] = &[$(StreamKind::$variant,)+];

            /// What a stream's name begins with.
            pub fn as_str(self) -> &'static str {
                match self { $(StreamKind::$variant => $word,)+ }
            }

            /// What the streams of this kind are about, in sentences.
            pub fn meaning(self) -> &'static str {
                match self { $(StreamKind::$variant => concat!($($meaning),+).trim_ascii(),)+ }
            }

            /// The object that the aggregate itself is, if it is one.
            pub fn kind(self) -> Option<Kind> {
                match self { $(StreamKind::$variant => $kind,)+ }
            }
        }
    };
}

stream_kinds! {
    /// A request with its interpretation: the entry point of every workflow.
    Intent => "intent", Some(Kind::Intent);
    /// A sequence of steps derived from an intent. Each revision is a separate plan.
    Plan => "plan", Some(Kind::Plan);
    /// A unit of work, stable across retries.
    Task => "task", Some(Kind::Task);
    /// One attempt at a task, with all that happens in it: tool invocations, patch sets, evidence,
    /// provenance and the decision.
    Run => "run", Some(Kind::Run);
    /// What an agent observed when a run began.
    Snapshot => "snapshot", Some(Kind::ContextSnapshot);
    /// Context frames that accumulate throughout the work. Evictions are not events: the window
    /// follows from the frames and the limit in force.
    Pipeline => "pipeline", Some(Kind::ContextPipeline);
    /// A name for people, which refers to an object. The UUID follows from the name and the log's
    /// secret of that time.
    Alias => "alias", None;
    /// An agent's work under a policy: the commands that it gave, the gate's verdicts, approvals,
    /// results and plans. A command and its verdict are two events of one append.
    Session => "session", Some(Kind::Session);
    /// A token bucket that sessions share whose policy profiles have the same name and limits. The
    /// UUID follows from both, the kind of command and the log's secret of that time.
    Bucket => "bucket", None;
    /// The rules that the log's deciders follow. There is one such stream in a log; its UUID is of
    /// version 5, over "settings.annals".
    Settings => "settings", None;
    /// What an agent noticed: an epiphany or a reflection, with what it rests on. It is open until
    /// an intent names it as its cause, or an actor finds nothing to do.
    Observation => "observation", Some(Kind::Observation);
}

impl fmt::Display for StreamKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One aggregate: its kind and id. Its stream is named `<kind>-<uuid>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamRef {
    /// What it is.
    pub kind: StreamKind,
    /// Which one it is.
    pub id: Uuid,
}

impl fmt::Display for StreamRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.kind, self.id)
    }
}

impl FromStr for StreamRef {
    type Err = UnknownStream;

    fn from_str(name: &str) -> Result<StreamRef, UnknownStream> {
        let parse = || {
            let (word, id) = name.split_once('-')?;
            let kind = StreamKind::ALL
                .iter()
                .copied()
                .find(|kind| kind.as_str() == word)?;
            // Uuid reads several spellings; a stream's name has only one.
            let is_usual = id.len() == uuid::fmt::Hyphenated::LENGTH;
            if !is_usual || id.bytes().any(|byte| byte.is_ascii_uppercase()) {
                return None;
            }
            let id = Uuid::parse_str(id).ok()?;
            Some(StreamRef { kind, id })
        };
        parse().ok_or_else(|| UnknownStream {
            name: name.to_owned(),
        })
    }
}

/// A stream that belongs to no aggregate of this model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} is not the stream of an aggregate: <kind>-<uuid> is expected")]
pub struct UnknownStream {
    /// The stream's name.
    pub name: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_number_and_names() {
        let numbers = (8_u8..=18).chain([64, 65]);
        for (kind, number) in Kind::ALL.iter().zip(numbers) {
            assert_eq!(kind.number(), number);
            assert_eq!(Kind::from_number(number), Some(*kind));
            assert_eq!(kind.object_type().parse(), Ok(*kind));
            assert_eq!(kind.identifier().parse(), Ok(*kind));
            assert_eq!(kind.to_pack_type(), Err(NotAPackType { number }));
        }
        assert_eq!(Kind::ALL.len(), 13);
        assert_eq!(Kind::git_internal().count(), 11);
        assert_eq!(Kind::from_number(7), None);
        assert_eq!(Kind::from_number(19), None);
    }

    #[test]
    fn streams_read_back() {
        for kind in StreamKind::ALL {
            let stream = StreamRef {
                kind: *kind,
                id: Uuid::from_u128(7),
            };
            assert_eq!(stream.to_string().parse(), Ok(stream));
        }
        assert!("run-7".parse::<StreamRef>().is_err());
        assert!(
            "run-00000000000000000000000000000007"
                .parse::<StreamRef>()
                .is_err()
        );
    }
}
