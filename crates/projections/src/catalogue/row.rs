//! What the catalogue knows of one object: its row.
//!
//! A row has nothing whose size grows with the object, so that one more event
//! costs the same however large the object is. What does grow (a task's runs, a
//! plan's steps, labels) has rows of its own.

use annals_domain::intent::PartsTally;
use annals_domain::pipeline::Tally;
use annals_domain::{ActorKind, GitOid, Kind, StreamKind, StreamRef, Timestamp, Visibility, cut};
use annals_event_log::Position;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

use super::relation::Relation;
use super::status::Status;
use crate::Text;

/// Characters of a title; the rest is in the object's view.
const TITLE_CHARS: usize = 100;
/// Bytes of a label's name or value. It is the log's limit for content that
/// is stored in a record; no label is longer.
const LABEL_BYTES: usize = 4_096;

/// One object. It is a pure function of the log's prefix: no time of the log's
/// own clock is in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ObjectRow {
    /// It is in the key.
    #[serde(skip)]
    pub(super) id: Uuid,
    #[serde(with = "kind_number")]
    pub(super) kind: Kind,
    /// The id of the stream that holds the object, whose kind the object's
    /// kind says.
    pub(super) stream: Uuid,
    /// The position of the first event on the object; 0 while there is only a
    /// run's children and no run.
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) events: u64,
    pub(super) created_at: Timestamp,
    pub(super) updated_at: Timestamp,
    /// Events on the object that are dated before what came before them.
    pub(super) skewed: u64,
    pub(super) actor_kind: ActorKind,
    pub(super) actor_id: String,
    pub(super) visibility: Visibility,
    #[serde(with = "status_code")]
    pub(super) status: Option<Status>,
    pub(super) sort: Option<String>,
    #[serde(with = "stored_text")]
    pub(super) title: Option<Text>,
    /// How many tags it has; they are rows of their own.
    pub(super) tags: u32,
    /// How many ids in other systems it has; they are rows of their own.
    pub(super) external_ids: u32,
    /// How many aliases it has; they are rows of their own.
    pub(super) aliases: u32,
    /// Objects that it names in fields that hold one.
    pub(super) links: Vec<Link>,
    pub(super) counts: Counts,
    /// Tokens that were used, event by event.
    pub(super) usage: Option<Usage>,
    /// Tokens that a provenance states, in addition.
    pub(super) stated: Option<Usage>,
    /// A run's provenance, to which tokens count that are used later.
    pub(super) provenance: Option<Uuid>,
    /// Of an intent, what kind of work it is.
    pub(super) work_type: Option<String>,
}

/// An object that another one names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Link {
    #[serde(with = "relation_code")]
    pub(super) relation: Relation,
    pub(super) target: Uuid,
}

/// How much there is of what an object consists of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Counts {
    /// Nothing of it is counted.
    #[default]
    None,
    Run {
        tool_invocations: u64,
        errors: u64,
        patch_sets: u64,
        evidence: u64,
        /// How many patch sets the run itself names.
        named_patch_sets: u64,
    },
    Task {
        runs: u64,
        dependencies: u64,
        /// Whether its intent counts it among its parts.
        is_counted: bool,
        /// Whether another task took its place.
        is_superseded: bool,
        /// Whether it was called off with a task that it waited for.
        is_stranded: bool,
    },
    /// Steps by their status.
    Plan {
        pending: u64,
        progressing: u64,
        completed: u64,
        failed: u64,
        skipped: u64,
    },
    Pipeline {
        /// Frames that were pushed.
        frames: u64,
        /// Frames in the window, and the limit.
        window: Tally,
    },
    Snapshot {
        items: u64,
    },
    Session {
        commands: u64,
        accepted: u64,
        rejected: u64,
        throttled: u64,
        /// Commands that ended with success.
        completed: u64,
        /// Commands that ended with failure.
        failed: u64,
        /// How many runs it names.
        runs: u64,
        /// How many of its plans' nodes became tasks.
        tasks: u64,
    },
    Intent(IntentCounts),
    Decision {
        /// The git commit that it led to.
        commit: Option<GitOid>,
    },
}

/// Where an intent is on Forge's axis, and the states of its parts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct IntentCounts {
    /// How far it was let go, by its number in fold/intake.rs.
    pub(super) stage: u8,
    /// How risky it is; 0 if nothing said so.
    pub(super) risk: u8,
    /// Whether it was put on that axis.
    pub(super) is_taken_in: bool,
    /// Whether the intent above counts it among its parts.
    pub(super) is_counted: bool,
    /// Questions without an answer.
    pub(super) unanswered: u32,
    /// Intents that must be done first.
    pub(super) dependencies: u64,
    /// Its tasks and children.
    pub(super) parts: PartsTally,
    /// Whether it is a part of another one.
    pub(super) is_part: bool,
    /// Its tasks that were not begun and wait for others.
    pub(super) waiting: u32,
    /// The git commit that it led to.
    pub(super) commit: Option<GitOid>,
}

/// Tokens by what they were, and what they cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Usage {
    pub(super) uncached_input: u64,
    pub(super) cache_read: u64,
    pub(super) cache_write: u64,
    pub(super) output: u64,
    pub(super) cost_usd: Option<f64>,
}

impl Usage {
    /// Adds more to what is known.
    pub(super) fn add(known: &mut Option<Usage>, more: Usage) {
        let sum = known.unwrap_or_default();
        *known = Some(Usage {
            uncached_input: sum.uncached_input.saturating_add(more.uncached_input),
            cache_read: sum.cache_read.saturating_add(more.cache_read),
            cache_write: sum.cache_write.saturating_add(more.cache_write),
            output: sum.output.saturating_add(more.output),
            cost_usd: match (sum.cost_usd, more.cost_usd) {
                (Some(known), Some(more)) => Some(known + more),
                (known, more) => known.or(more),
            },
        });
    }
}

impl ObjectRow {
    /// A row on which nothing has happened yet.
    pub(super) fn new(kind: Kind, id: Uuid, stream: StreamRef) -> ObjectRow {
        ObjectRow {
            id,
            kind,
            stream: stream.id,
            first: 0,
            last: 0,
            events: 0,
            created_at: Timestamp::EPOCH,
            updated_at: Timestamp::EPOCH,
            skewed: 0,
            actor_kind: ActorKind::System,
            actor_id: String::new(),
            visibility: Visibility::Private,
            status: None,
            sort: None,
            title: None,
            tags: 0,
            external_ids: 0,
            aliases: 0,
            links: Vec::new(),
            counts: Counts::None,
            usage: None,
            stated: None,
            provenance: None,
            work_type: None,
        }
    }

    /// How many texts are in one of its maps.
    pub(super) fn labels(&self, map: LabelMap) -> u32 {
        match map {
            LabelMap::Tags => self.tags,
            LabelMap::ExternalIds => self.external_ids,
        }
    }

    /// Whether there is an object, and not just children of a run that is not
    /// there.
    pub(super) fn exists(&self) -> bool {
        self.first > 0
    }

    pub(super) fn first_position(&self) -> Position {
        Position(self.first)
    }

    /// The stream that holds the object.
    pub(super) fn stream_ref(&self) -> StreamRef {
        let kind: StreamKind = self.kind.stream_kind();
        StreamRef {
            kind,
            id: self.stream,
        }
    }

    /// The git commit that it led to, of a decision or an intent.
    pub(super) fn commit(&self) -> Option<GitOid> {
        match self.counts {
            Counts::Intent(counts) => counts.commit,
            Counts::Decision { commit } => commit,
            Counts::None
            | Counts::Run { .. }
            | Counts::Task { .. }
            | Counts::Plan { .. }
            | Counts::Pipeline { .. }
            | Counts::Snapshot { .. }
            | Counts::Session { .. } => None,
        }
    }

    /// Whether it is this object, in this stream.
    pub(super) fn is(&self, kind: Kind, stream: StreamRef) -> bool {
        self.exists() && self.kind == kind && self.stream_ref() == stream
    }

    /// All tokens that are known.
    pub(super) fn tokens(&self) -> Option<Usage> {
        let mut sum = self.stated;
        if let Some(used) = self.usage {
            Usage::add(&mut sum, used);
        }
        sum
    }

    /// How many objects it names in fields that hold many.
    pub(super) fn named(&self) -> Vec<(Relation, u64)> {
        match self.counts {
            Counts::Intent(counts) => {
                vec![(Relation::IntentDependencies, counts.dependencies)]
            }
            Counts::Task {
                runs, dependencies, ..
            } => vec![
                (Relation::TaskRuns, runs),
                (Relation::TaskDependencies, dependencies),
            ],
            Counts::Run {
                named_patch_sets, ..
            } => vec![(Relation::RunPatchSets, named_patch_sets)],
            Counts::Plan { .. } => vec![(Relation::StepTask, self.steps())],
            Counts::Session { runs, tasks, .. } => vec![
                (Relation::SessionRuns, runs),
                (Relation::SessionTasks, tasks),
            ],
            Counts::None
            | Counts::Pipeline { .. }
            | Counts::Snapshot { .. }
            | Counts::Decision { .. } => Vec::new(),
        }
    }

    /// How many steps a plan has.
    pub(super) fn steps(&self) -> u64 {
        match self.counts {
            Counts::Plan {
                pending,
                progressing,
                completed,
                failed,
                skipped,
            } => pending + progressing + completed + failed + skipped,
            Counts::None
            | Counts::Run { .. }
            | Counts::Task { .. }
            | Counts::Intent(_)
            | Counts::Decision { .. }
            | Counts::Pipeline { .. }
            | Counts::Snapshot { .. }
            | Counts::Session { .. } => 0,
        }
    }

    /// The objects that it names in fields that hold one.
    pub(super) fn to_one(&self) -> impl Iterator<Item = Link> {
        let run = Relation::to_run(self.kind).map(|relation| Link {
            relation,
            target: self.stream,
        });
        run.into_iter().chain(self.links.iter().copied())
    }
}

/// The first line of a text, not too long.
pub(super) fn title(text: &str) -> String {
    let line = text
        .trim_start()
        .lines()
        .next()
        .unwrap_or_default()
        .trim_end();
    match line.char_indices().nth(TITLE_CHARS) {
        Some((end, _)) => [line.get(..end).unwrap_or_default(), "…"].concat(),
        None => line.to_owned(),
    }
}

/// A label's name or value as it is kept and compared.
pub(super) fn label(text: &str) -> &str {
    cut(text, LABEL_BYTES)
}

/// One of the two maps of texts that every object has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LabelMap {
    /// Its tags.
    Tags,
    /// Its ids in other systems.
    ExternalIds,
}

impl LabelMap {
    /// Both of them.
    pub(super) const ALL: [LabelMap; 2] = [LabelMap::Tags, LabelMap::ExternalIds];
}

/// A link, where the field is set.
pub(super) fn link(relation: Relation, target: Option<impl Into<Uuid>>) -> Option<Link> {
    target.map(|target| Link {
        relation,
        target: target.into(),
    })
}

mod kind_number {
    use super::{Deserialize, Deserializer, Kind, Serializer};
    use serde::de::Error;

    pub(super) fn serialize<S: Serializer>(kind: &Kind, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_u8(kind.number())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Kind, D::Error> {
        Kind::from_number(u8::deserialize(d)?).ok_or_else(|| D::Error::custom("no kind"))
    }
}

mod status_code {
    use super::{Deserialize, Deserializer, Serializer, Status};
    use serde::de::Error;

    pub(super) fn serialize<S: Serializer>(
        status: &Option<Status>,
        s: S,
    ) -> Result<S::Ok, S::Error> {
        s.serialize_u8(status.map_or(0, Status::code))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Status>, D::Error> {
        match u8::deserialize(d)? {
            0 => Ok(None),
            code => match Status::from_code(code) {
                None => Err(D::Error::custom("no status")),
                status => Ok(status),
            },
        }
    }
}

mod relation_code {
    use super::{Deserialize, Deserializer, Relation, Serializer};
    use serde::de::Error;

    pub(super) fn serialize<S: Serializer>(relation: &Relation, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_u8(relation.code())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Relation, D::Error> {
        Relation::from_code(u8::deserialize(d)?).ok_or_else(|| D::Error::custom("no relation"))
    }
}

/// A text that is there, or removed: `Some(Some)` and `Some(None)`.
pub(super) mod stored_text {
    use super::{Deserialize, Deserializer, Serialize, Serializer, Text};

    pub(in super::super) fn serialize<S: Serializer>(
        text: &Option<Text>,
        s: S,
    ) -> Result<S::Ok, S::Error> {
        text.as_ref().map(Text::as_str).serialize(s)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        d: D,
    ) -> Result<Option<Text>, D::Error> {
        let text = Option::<Option<String>>::deserialize(d)?;
        Ok(text.map(|text| text.map_or(Text::Removed, Text::Present)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_short_line() {
        assert_eq!(title("\n  Add a cache \nand more"), "Add a cache");
        assert_eq!(title(""), "");
        assert_eq!(title(&"é".repeat(100)), "é".repeat(100));
        assert_eq!(title(&"é".repeat(101)), "é".repeat(100) + "…");
        assert_eq!(title(&"e".repeat(100)), "e".repeat(100));
        assert_eq!(title(&"e".repeat(101)), "e".repeat(100) + "…");
    }

    #[test]
    fn a_label_is_cut_between_characters() {
        assert_eq!(label("team"), "team");
        let long = "é".repeat(4_000);
        assert_eq!(label(&long), "é".repeat(2_048));
        assert_eq!(label(&format!("a{long}")).len(), 4_095);
    }
}
