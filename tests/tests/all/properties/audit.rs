//! The invariants, read off a log: no record of an accepted history breaks one.
//!
//! The log is gone through in order, so every prefix of it is looked at. What
//! an event may be is judged by the views as they were before it; how an
//! object may change is judged by its view before and after.

mod change;
mod event;
mod session;
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use annals::domain::{Kind, StreamRef};
use annals::projections::{Entry, Fold, View};
use uuid::Uuid;

/// Goes through a whole log.
pub fn audit(entries: &[Entry]) {
    let mut audit = Audit::default();
    for entry in entries {
        audit.entry(entry);
    }
}

/// Everything as it is after the records so far.
#[derive(Default)]
struct Audit {
    records: u64,
    versions: BTreeMap<StreamRef, u64>,
    /// Every object, with the stream that holds it.
    objects: BTreeMap<Uuid, (Kind, StreamRef, Fold)>,
    /// Tasks and what they depend on.
    dependencies: BTreeMap<Uuid, BTreeSet<Uuid>>,
    /// Sessions and the buckets that they share.
    governance: session::Governance,
}

impl Audit {
    fn entry(&mut self, entry: &Entry) {
        self.records += 1;
        assert_eq!(
            entry.position.0, self.records,
            "positions are dense, nothing is removed"
        );
        let version = self.versions.entry(entry.stream).or_default();
        *version += 1;
        assert_eq!(
            entry.version.0, *version,
            "versions are dense, nothing is removed"
        );
        self.check_event(entry);
        self.apply(entry);
    }

    fn apply(&mut self, entry: &Entry) {
        for (kind, id) in entry.touches() {
            let new = || (kind, entry.stream, Fold::new(kind, id));
            let (found, holder, _) = self.objects.entry(id).or_insert_with(new);
            assert_eq!(
                (*found, *holder),
                (kind, entry.stream),
                "{id} is one object alone"
            );
        }
        for (kind, holder, fold) in self.objects.values_mut() {
            if *holder != entry.stream {
                continue;
            }
            let before = fold.peek().cloned();
            fold.apply(entry);
            let after = fold
                .peek()
                .unwrap_or_else(|| panic!("a {kind} that nothing created"));
            change::check(before.as_ref(), after);
        }
    }

    fn view<V: View>(&self, id: impl Into<Uuid>) -> Option<V> {
        let (_, _, fold) = self.objects.get(&id.into())?;
        V::from_object(fold.peek()?.clone())
    }

    /// All objects of a kind.
    fn all<V: View>(&self) -> impl Iterator<Item = V> + '_ {
        self.objects.keys().filter_map(|id| self.view(*id))
    }

    /// The object, which must be there.
    fn the<V: View>(&self, id: impl Into<Uuid>) -> V {
        let id = id.into();
        self.view(id)
            .unwrap_or_else(|| panic!("there is no {} {id}", V::KIND))
    }

    fn depends_on(&self, task: Uuid, other: Uuid) -> bool {
        let none = BTreeSet::new();
        let direct = self.dependencies.get(&task).unwrap_or(&none);
        task == other || direct.iter().any(|next| self.depends_on(*next, other))
    }
}
