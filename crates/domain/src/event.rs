//! Events as plain data: the trait that `annals-wire` works with, and the
//! macro that lists an aggregate's events.

use serde::{Deserializer, Serializer};
use smallvec::SmallVec;
use uuid::Uuid;

use crate::Kind;

/// The objects that an event creates or changes. Nearly all are about one or two, for which no
/// memory is allocated.
pub type Touched = SmallVec<[(Kind, Uuid); 2]>;

/// The events of one aggregate.
///
/// Each event is a struct of its own, stored under its type's name and the
/// version of its shape. The enum exists in memory only.
pub trait EventSet: Sized {
    /// Names of the event types and the current versions of their shapes.
    const TYPES: &'static [(&'static str, u16)];

    /// The name under which the event is stored.
    fn event_type(&self) -> &'static str;

    /// The version of the event's shape.
    fn schema_version(&self) -> u16;

    /// Writes the event's structure, without its type's name.
    ///
    /// # Errors
    /// The serializer's.
    fn serialize_structure<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;

    /// Reads the structure of the event type with this name, in the current
    /// version of its shape; `None` when the aggregate has no such type.
    ///
    /// # Errors
    /// The deserializer's.
    fn deserialize_structure<'de, D: Deserializer<'de>>(
        event_type: &str,
        deserializer: D,
    ) -> Option<Result<Self, D::Error>>;

    /// The objects that the event creates or changes, the principal one first.
    /// `stream_id` is the id of the aggregate whose stream holds the event.
    fn touches(&self, stream_id: Uuid) -> Touched;
}

/// Lists an aggregate's events. Each name is a struct in scope, whose doc comments say what the
/// event and its fields mean: the documentation of the events is made of them.
macro_rules! events {
    (
        $(#[$meta:meta])*
        pub enum Event {
            $($name:ident = $event_type:literal v $version:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        // An event is made once and passed on, so its size matters little.
        #[allow(clippy::large_enum_variant)]
        pub enum Event {
            $(
                #[doc = concat!("`", $event_type, "`: see the struct.")]
                $name($name),
            )+
        }

        $(
            impl From<$name> for Event {
                fn from(event: $name) -> Event {
                    Event::$name(event)
                }
            }
        )+

        impl Event {
            /// The JSON Schema of the event type with this name, as events are shown: with content
            /// in its place. What it says of fields is said by their doc comments.
            pub fn schema(
                event_type: &str,
                generator: &mut schemars::SchemaGenerator,
            ) -> Option<schemars::Schema> {
                match event_type {
                    $($event_type => Some(generator.subschema_for::<$name>()),)+
                    _ => None,
                }
            }
        }

        impl $crate::event::EventSet for Event {
            const TYPES: &'static [(&'static str, u16)] = &[$(($event_type, $version),)+];

            fn event_type(&self) -> &'static str {
                match self { $(Event::$name(_) => $event_type,)+ }
            }

            fn schema_version(&self) -> u16 {
                match self { $(Event::$name(_) => $version,)+ }
            }

            fn serialize_structure<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self { $(Event::$name(event) => serde::Serialize::serialize(event, serializer),)+ }
            }

            fn deserialize_structure<'de, D: serde::Deserializer<'de>>(
                event_type: &str,
                deserializer: D,
            ) -> Option<Result<Event, D::Error>> {
                match event_type {
                    $($event_type => Some(<$name as serde::Deserialize>::deserialize(deserializer).map(Event::$name)),)+
                    _ => None,
                }
            }

            fn touches(&self, stream_id: uuid::Uuid) -> $crate::Touched {
                touches(self, stream_id)
            }
        }
    };
}

pub(crate) use events;
