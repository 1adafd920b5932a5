//! One step: from one version of an event's shape to the next.

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{DecodeError, value};

/// One step of one event type: from one version of its shape to the next.
pub trait Upcaster: Send + Sync {
    /// The event's type.
    fn event_type(&self) -> &'static str;

    /// The version that it reads; it gives the one after it.
    fn version(&self) -> u16;

    /// The structure in the next version, from the structure in this one, both
    /// with their format byte.
    ///
    /// # Errors
    /// [`DecodeError`] when the bytes are not this version's.
    fn upcast(&self, structure: &[u8]) -> Result<Vec<u8>, DecodeError>;
}

/// A step that is a function from the old struct to the new one.
pub struct Step<Old, New> {
    event_type: &'static str,
    version: u16,
    convert: fn(Old) -> New,
}

impl<Old, New> Step<Old, New> {
    /// A step from `version` to the version after it.
    pub const fn new(
        event_type: &'static str,
        version: u16,
        convert: fn(Old) -> New,
    ) -> Step<Old, New> {
        Step {
            event_type,
            version,
            convert,
        }
    }
}

impl<Old: DeserializeOwned, New: Serialize> Upcaster for Step<Old, New> {
    fn event_type(&self) -> &'static str {
        self.event_type
    }

    fn version(&self) -> u16 {
        self.version
    }

    fn upcast(&self, bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
        let old: Old = value::read(PhantomData, self.event_type, bytes)?;
        value::write(&(self.convert)(old)).map_err(|source| DecodeError::Malformed {
            event_type: self.event_type.to_owned(),
            source,
        })
    }
}
