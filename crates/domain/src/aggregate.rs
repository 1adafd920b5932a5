//! All aggregates side by side: any event, any state.

use std::sync::Arc;

use schemars::{Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

use crate::event::{EventSet, Touched};
use crate::{Origin, StreamKind};
use crate::{
    alias, bucket, intent, observation, pipeline, plan, run, session, settings, snapshot, task,
};

/// The version of all states and of what events do to them. A snapshot of a state is of use only where
/// this is what it was made with: raise it with every change of a state, its serialized form or a fold, and where an
/// older version of an event is read as something else than before.
pub const STATES_VERSION: u16 = 11;

/// Calls an aggregate's fold, with the event's origin where it takes that.
macro_rules! fold {
    ($module:ident, $state:expr, $event:expr, $origin:expr) => {
        $module::evolve($state, $event)
    };
    ($module:ident, $state:expr, $event:expr, $origin:expr, $named:ident) => {
        $module::evolve($state, $event, $origin)
    };
}

macro_rules! aggregates {
    ($($variant:ident => $module:ident $(by $origin:ident)?,)+) => {
        /// An event of any aggregate. It exists in memory only: what is stored
        /// is the struct inside, under its type's name.
        #[derive(Debug, Clone, PartialEq)]
        pub enum AnyEvent {
            $(
                #[doc = concat!("An event of `", stringify!($module), "`.")]
                $variant($module::Event),
            )+
        }

        /// The state of any aggregate: what its decider needs to know.
        #[derive(Debug, Clone)]
        pub enum AnyState {
            $(
                #[doc = concat!("The state of `", stringify!($module), "`.")]
                $variant(Arc<$module::State>),
            )+
        }

        impl AnyEvent {
            /// The aggregate's kind.
            pub fn stream_kind(&self) -> StreamKind {
                match self { $(AnyEvent::$variant(_) => StreamKind::$variant,)+ }
            }

            /// The name under which the event is stored.
            pub fn event_type(&self) -> &'static str {
                match self { $(AnyEvent::$variant(event) => event.event_type(),)+ }
            }

            /// The version of the event's shape.
            pub fn schema_version(&self) -> u16 {
                match self { $(AnyEvent::$variant(event) => event.schema_version(),)+ }
            }

            /// The objects that the event creates or changes, the principal
            /// one first.
            pub fn touches(&self, stream_id: Uuid) -> Touched {
                match self { $(AnyEvent::$variant(event) => event.touches(stream_id),)+ }
            }

            /// Writes the structure.
            ///
            /// # Errors
            /// The serializer's.
            pub fn serialize_structure<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self { $(AnyEvent::$variant(event) => event.serialize_structure(serializer),)+ }
            }

            /// Reads a structure; `None` when the aggregate has no such type.
            ///
            /// # Errors
            /// The deserializer's.
            pub fn deserialize_structure<'de, D: Deserializer<'de>>(
                kind: StreamKind,
                event_type: &str,
                deserializer: D,
            ) -> Option<Result<AnyEvent, D::Error>> {
                match kind {
                    $(StreamKind::$variant => <$module::Event as EventSet>::deserialize_structure(event_type, deserializer)
                        .map(|read| read.map(AnyEvent::$variant)),)+
                }
            }

            /// The JSON Schema of an event type's fields in the current version of its shape, as
            /// events are shown: with content in its place. Of a generator of schemas for
            /// `Serialize`, every field is required, in the order in which they are stored.
            pub fn schema(
                kind: StreamKind,
                event_type: &str,
                generator: &mut SchemaGenerator,
            ) -> Option<Schema> {
                match kind {
                    $(StreamKind::$variant => $module::Event::schema(event_type, generator),)+
                }
            }

            /// Every aggregate's event types with the current versions of
            /// their shapes.
            pub fn types() -> Vec<(StreamKind, &'static str, u16)> {
                let mut types = Vec::new();
                $(types.extend(<$module::Event as EventSet>::TYPES.iter()
                    .map(|(name, version)| (StreamKind::$variant, *name, *version)));)+
                types
            }
        }

        impl AnyState {
            /// The state of an aggregate that does not exist yet.
            pub fn new(kind: StreamKind) -> AnyState {
                match kind { $(StreamKind::$variant => AnyState::$variant(Arc::default()),)+ }
            }

            /// Writes the state, without its kind: for a snapshot of it.
            ///
            /// # Errors
            /// The serializer's.
            pub fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self { $(AnyState::$variant(state) => state.serialize(serializer),)+ }
            }

            /// Reads the state of an aggregate of this kind.
            ///
            /// # Errors
            /// The deserializer's.
            pub fn deserialize<'de, D: Deserializer<'de>>(
                kind: StreamKind,
                deserializer: D,
            ) -> Result<AnyState, D::Error> {
                match kind {
                    $(StreamKind::$variant => Deserialize::deserialize(deserializer).map(AnyState::$variant),)+
                }
            }

            /// Whether the aggregate does not exist. Its stream may hold events
            /// all the same: objects of a run that was never adopted itself.
            pub fn is_absent(&self) -> bool {
                match self { $(AnyState::$variant(state) => state.is_absent(),)+ }
            }

            /// Folds one event into the state. An event of another aggregate changes
            /// nothing; the log keeps each in its own streams. Token buckets look at
            /// the time, and what asks for approvals at the actor.
            pub fn evolve(&mut self, event: &AnyEvent, origin: &Origin<'_>) {
                match (self, event) {
                    $((AnyState::$variant(state), AnyEvent::$variant(event)) => {
                        fold!($module, Arc::make_mut(state), event, origin $(, $origin)?);
                    })+
                    (state, _) => debug_assert!(false, "{state:?} got an event of another aggregate"),
                }
            }
        }
    };
}

aggregates! {
    Intent => intent by origin,
    Plan => plan,
    Task => task by origin,
    Run => run by origin,
    Snapshot => snapshot,
    Pipeline => pipeline,
    Alias => alias,
    Session => session by origin,
    Bucket => bucket by origin,
    Settings => settings,
    Observation => observation,
}
