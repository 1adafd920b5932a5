//! Names: texts that a user chose and that rules compare, such as a branch, a ticket or a kind
//! that no list has.
//!
//! A fold looks at them, and still they are content: a record has them among its pieces, where a
//! redaction finds and removes them. An event in memory has the texts. In the place of one that
//! was removed it has a stand-in ([`removed_name`]), which equals no other text, so that a rule
//! that compares it never finds that something is allowed.

mod stand_in;

use crate::{AnyEvent, intent, run, session, settings, snapshot, task};

pub use stand_in::{is_removed_name, removed_name};

impl AnyEvent {
    /// Whether events of this type may have names: most have none.
    pub fn may_have_names(&self) -> bool {
        match self {
            AnyEvent::Session(_) => true,
            AnyEvent::Run(event) => run::may_have_names(event),
            AnyEvent::Snapshot(event) => snapshot::may_have_names(event),
            AnyEvent::Task(event) => task::may_have_names(event),
            AnyEvent::Intent(event) => intent::may_have_names(event),
            AnyEvent::Settings(event) => settings::may_have_names(event),
            AnyEvent::Plan(_)
            | AnyEvent::Pipeline(_)
            | AnyEvent::Alias(_)
            | AnyEvent::Bucket(_)
            | AnyEvent::Observation(_) => false,
        }
    }

    /// Gives each of the event's names to `each`, always in the same order.
    ///
    /// Which fields they are is a part of the stored form of an event: a field that an existing
    /// version of an event has is neither added nor taken away.
    ///
    /// ```
    /// use annals_domain::{AnyEvent, session};
    /// let granted = session::Approved {
    ///     request: None,
    ///     actions: vec!["Push".into(), "Deploy".into()],
    ///     reason: None,
    /// };
    /// let mut names = Vec::new();
    /// AnyEvent::Session(granted.into()).each_name(&mut |name| names.push(name.clone()));
    /// // Push is a word of the contracts (docs/spec/contracts.md), not a name that a user chose.
    /// assert_eq!(names, ["Deploy"]);
    /// ```
    pub fn each_name(&mut self, each: &mut dyn FnMut(&mut String)) {
        match self {
            AnyEvent::Session(event) => session::each_name(event, each),
            AnyEvent::Run(event) => run::each_name(event, each),
            AnyEvent::Snapshot(event) => snapshot::each_name(event, each),
            AnyEvent::Task(event) => task::each_name(event, each),
            AnyEvent::Intent(event) => intent::each_name(event, each),
            AnyEvent::Settings(event) => settings::each_name(event, each),
            AnyEvent::Plan(_)
            | AnyEvent::Pipeline(_)
            | AnyEvent::Alias(_)
            | AnyEvent::Bucket(_)
            | AnyEvent::Observation(_) => {}
        }
    }
}
