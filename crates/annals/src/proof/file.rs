//! The proof file: JSON, as `docs/proof-format.md` describes it.

use std::collections::HashMap;
use std::fmt;

use annals_domain::{Kind, Object};
use annals_event_log::{Classification, Classified, Digest, ErrorClass, Position, Record};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::{ConsistencyProof, EventProof, InclusionProof, Proof, TreeHead};
use crate::ObjectRef;

/// The format's version.
const VERSION: u32 = 1;
/// The version as a file has it.
const VERSION_TEXT: &str = "1";
/// The most hashes on the way from a leaf to the root: sizes have 64 bits.
const MOST_STEPS: usize = 64;
const INCLUSION: &str = "inclusion";
const CONSISTENCY: &str = "consistency";

/// Why a file is not a proof, or why a proof cannot be written as a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProofFileError {
    /// It is not JSON, or not the expected JSON.
    #[error("this is not a proof of `annals proof prove`: {0}")]
    Malformed(String),
    /// It is of another version of the format.
    #[error("the proof is of version {found}; this program knows version {VERSION}")]
    Version {
        /// What the file says.
        found: String,
    },
    /// It proves something that this program does not know.
    #[error("unknown kind of proof {found:?}: expected {INCLUSION:?} or {CONSISTENCY:?}")]
    Kind {
        /// What the file says.
        found: String,
    },
    /// It is more than a proof may have.
    #[error(
        "the proof is too large: more than {} bytes. Prove less at once, or headers only",
        Proof::MOST_BYTES
    )]
    TooLarge,
}

impl Classified for ProofFileError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Invalid, Unsupported};
        match self {
            ProofFileError::Version { .. } => Unsupported.code("invalid_proof"),
            ProofFileError::Malformed(_)
            | ProofFileError::Kind { .. }
            | ProofFileError::TooLarge => Invalid.code("invalid_proof"),
        }
    }
}

/// Bytes as base64.
struct Base64(Vec<u8>);

impl Serialize for Base64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64_STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Base64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Base64, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = BASE64_STANDARD.decode(text);
        bytes
            .map(Base64)
            .map_err(|error| de::Error::custom(format_args!("base64 is expected: {error}")))
    }
}

/// A hash as base64.
#[derive(Clone, Copy)]
struct HashText(Digest);

impl Serialize for HashText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64_STANDARD.encode(self.0.0))
    }
}

impl<'de> Deserialize<'de> for HashText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<HashText, D::Error> {
        let Base64(bytes) = Base64::deserialize(deserializer)?;
        let hash = bytes.try_into().map(Digest);
        hash.map(HashText)
            .map_err(|_| de::Error::custom("a hash has 32 bytes"))
    }
}

/// The numbers of the hashes on a way to the root. A number takes two bytes in a file
/// and many times that in memory, so no more are read than a tree can need.
#[derive(Serialize)]
#[serde(transparent)]
struct Steps(Vec<u32>);

impl<'de> Deserialize<'de> for Steps {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Steps, D::Error> {
        struct Numbers;

        impl<'de> Visitor<'de> for Numbers {
            type Value = Steps;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "at most {MOST_STEPS} numbers of hashes")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Steps, A::Error> {
                let mut steps = Vec::new();
                while let Some(number) = numbers.next_element()? {
                    if steps.len() == MOST_STEPS {
                        return Err(de::Error::invalid_length(MOST_STEPS + 1, &self));
                    }
                    steps.push(number);
                }
                Ok(Steps(steps))
            }
        }

        deserializer.deserialize_seq(Numbers)
    }
}

/// What every proof begins with, as the file has it: these may be anything, of any size.
#[derive(Deserialize)]
struct Marker<'a> {
    #[serde(borrow)]
    annals_proof: Option<&'a RawValue>,
    #[serde(borrow)]
    kind: Option<&'a RawValue>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct InclusionFile {
    annals_proof: u32,
    kind: String,
    origin: String,
    size: u64,
    root: HashText,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    object: Option<Object<ObjectFile>>,
    hashes: Vec<HashText>,
    events: Vec<Object<EventFile>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ObjectFile {
    kind: String,
    id: Uuid,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EventFile {
    position: u64,
    header: Base64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    record: Option<Base64>,
    /// Numbers of hashes in the table.
    path: Steps,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConsistencyFile {
    annals_proof: u32,
    kind: String,
    origin: String,
    old: Object<HeadFile>,
    new: Object<HeadFile>,
    hashes: Vec<HashText>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeadFile {
    size: u64,
    root: HashText,
}

impl HeadFile {
    fn of(head: &TreeHead) -> HeadFile {
        HeadFile {
            size: head.size,
            root: HashText(head.root),
        }
    }

    fn head(&self, origin: &str) -> TreeHead {
        TreeHead {
            origin: origin.to_owned(),
            size: self.size,
            root: self.root.0,
        }
    }
}

impl Proof {
    /// The most bytes of a proof file. The largest record has room in it.
    pub const MOST_BYTES: usize = 64 * 1024 * 1024;

    /// The proof as a file holds it: one line of JSON.
    ///
    /// # Errors
    /// [`ProofFileError::TooLarge`].
    pub fn to_json(&self) -> Result<Vec<u8>, ProofFileError> {
        let json = match self {
            Proof::Inclusion(proof) => serde_json::to_vec(&inclusion_file(proof)),
            Proof::Consistency(proof) => serde_json::to_vec(&ConsistencyFile {
                annals_proof: VERSION,
                kind: CONSISTENCY.to_owned(),
                origin: proof.new.origin.clone(),
                old: Object(HeadFile::of(&proof.old)),
                new: Object(HeadFile::of(&proof.new)),
                hashes: proof.path.iter().copied().map(HashText).collect(),
            }),
        };
        let mut json = json.map_err(malformed)?;
        json.push(b'\n');
        if json.len() > Proof::MOST_BYTES {
            return Err(ProofFileError::TooLarge);
        }
        Ok(json)
    }

    /// Reads a proof file. Nothing is checked yet: see [`Proof::check`].
    ///
    /// # Errors
    /// [`ProofFileError`].
    pub fn read(json: &[u8]) -> Result<Proof, ProofFileError> {
        if json.len() > Proof::MOST_BYTES {
            return Err(ProofFileError::TooLarge);
        }
        let Object(marker): Object<Marker<'_>> = serde_json::from_slice(json).map_err(malformed)?;
        let version = marker
            .annals_proof
            .ok_or_else(|| ProofFileError::Malformed("it has no field annals_proof".to_owned()))?;
        if version.get() != VERSION_TEXT {
            return Err(ProofFileError::Version {
                found: shortened(version),
            });
        }
        match marker.kind.and_then(text_of).as_deref() {
            Some(INCLUSION) => {
                let Object(file) = serde_json::from_slice(json).map_err(malformed)?;
                inclusion(file).map(Proof::Inclusion)
            }
            Some(CONSISTENCY) => {
                let Object(file): Object<ConsistencyFile> =
                    serde_json::from_slice(json).map_err(malformed)?;
                Ok(Proof::Consistency(ConsistencyProof {
                    old: file.old.0.head(&file.origin),
                    new: file.new.0.head(&file.origin),
                    path: file.hashes.iter().map(|hash| hash.0).collect(),
                }))
            }
            _ => Err(ProofFileError::Kind {
                found: marker.kind.map(shortened).unwrap_or_default(),
            }),
        }
    }
}

fn malformed(error: serde_json::Error) -> ProofFileError {
    ProofFileError::Malformed(error.to_string())
}

/// The text, if it is one.
fn text_of(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

/// What a file says, as far as a message has room for it.
fn shortened(value: &RawValue) -> String {
    let text = text_of(value);
    let text = text.as_deref().unwrap_or(value.get());
    text.chars().take(40).collect()
}

/// The proof with its hashes in one table, each once.
fn inclusion_file(proof: &InclusionProof) -> InclusionFile {
    let (mut numbers, mut hashes) = (HashMap::new(), Vec::new());
    let mut number_of = |hash: &Digest| {
        *numbers.entry(*hash).or_insert_with(|| {
            hashes.push(HashText(*hash));
            // As many as 32 bits can count have no room in a file.
            u32::try_from(hashes.len() - 1).unwrap_or(u32::MAX)
        })
    };
    let event = |event: &EventProof| {
        Object(EventFile {
            position: event.position.0,
            header: Base64(event.header.to_vec()),
            record: event
                .record
                .as_ref()
                .map(|record| Base64(record.as_bytes().to_vec())),
            path: Steps(event.path.iter().map(&mut number_of).collect()),
        })
    };
    let events = proof.events.iter().map(event).collect();
    InclusionFile {
        annals_proof: VERSION,
        kind: INCLUSION.to_owned(),
        origin: proof.head.origin.clone(),
        size: proof.head.size,
        root: HashText(proof.head.root),
        object: proof.object.map(|object| {
            Object(ObjectFile {
                kind: object.kind.object_type().to_owned(),
                id: object.id,
            })
        }),
        hashes,
        events,
    }
}

fn inclusion(file: InclusionFile) -> Result<InclusionProof, ProofFileError> {
    let mut used = vec![false; file.hashes.len()];
    let mut events = Vec::with_capacity(file.events.len());
    for Object(event) in file.events {
        let no =
            |what: &str| ProofFileError::Malformed(format!("event {}: {what}", event.position));
        let mut path = Vec::with_capacity(event.path.0.len());
        for number in &event.path.0 {
            let at = usize::try_from(*number).unwrap_or(usize::MAX);
            let (Some(hash), Some(used)) = (file.hashes.get(at), used.get_mut(at)) else {
                return Err(no(&format!("there is no hash {number}")));
            };
            *used = true;
            path.push(hash.0);
        }
        let record = event.record.map(|bytes| Record::decode(bytes.0.into()));
        let record = record.transpose().map_err(|error| no(&error.to_string()))?;
        events.push(EventProof {
            position: Position(event.position),
            header: Bytes::from(event.header.0),
            record,
            path,
        });
    }
    // What nothing refers to would be believed without having been checked.
    if let Some(number) = used.iter().position(|used| !used) {
        let reason = format!("no event needs hash {number}");
        return Err(ProofFileError::Malformed(reason));
    }
    let object = file.object.map(|Object(object)| {
        let kind = Kind::ALL
            .iter()
            .find(|kind| kind.object_type() == object.kind);
        let unknown = || ProofFileError::Malformed(format!("unknown kind {:?}", object.kind));
        kind.copied().ok_or_else(unknown).map(|kind| ObjectRef {
            kind,
            id: object.id,
        })
    });
    Ok(InclusionProof {
        head: TreeHead {
            origin: file.origin,
            size: file.size,
            root: file.root.0,
        },
        object: object.transpose()?,
        events,
    })
}
