//! What intents are to each other, and what they come to together.

use std::collections::{BTreeMap, HashMap};

use annals::At;
use annals::domain::{IntentId, Kind};
use annals::projections::Relation;

use super::hold_back::HeldBack;
use super::{Import, NOT_OF_FOLDER};
use crate::forge::facts;
use crate::forge::folder::ForgeFolderError;
use crate::forge::logged;
use crate::forge::queue::{Became, Queue, Unit};
use crate::forge::source::IntentFile;

/// Children that are named in one event; each takes room in it.
const CHILDREN: usize = 500;
/// Parts that came before the whole are looked for up to this many.
const MOST_PARTS: usize = 100_000;

impl Import<'_> {
    /// Says on the streams of parents which parts they have.
    pub(super) async fn families(&mut self) -> Result<(), ForgeFolderError> {
        let mut children: BTreeMap<IntentId, Vec<IntentId>> = BTreeMap::new();
        for known in self.known.values().filter(|known| known.is_of_folder) {
            if let Some(parent) = known.child_of {
                children.entry(parent).or_default().push(known.id);
            }
            // Parts that came before the whole.
            if known.is_new {
                let parts =
                    self.annals
                        .index()
                        .naming(known.id, Relation::IntentChildOf, MOST_PARTS);
                let parts = parts.await?.into_iter().map(IntentId);
                children.entry(known.id).or_default().extend(parts);
            }
        }
        let mut queue = Queue::new(self.annals, self.taking);
        for (parent, mut named) in children {
            if !matches!(
                self.annals.index().place(parent).await?,
                Some((Kind::Intent, _))
            ) {
                continue;
            }
            let view = self.annals.inbox().forge_intent(parent, At::Now).await?;
            named.retain(|child| !view.children.contains(child));
            if named.is_empty() {
                continue;
            }
            // It was not there when its parts were imported, and was made here since.
            if !self.is_of_folder(parent.stream()).await? {
                let note = format!("no parts are named on intent {parent}: {NOT_OF_FOLDER}");
                self.report.notes.push(note);
                continue;
            }
            named.sort_unstable();
            named.dedup();
            let parts = named.chunks(CHILDREN);
            let events = parts.map(|part| facts::decomposed(parent, part.to_vec()));
            let unit = Unit {
                events: events.collect::<Vec<_>>(),
                heads: Vec::new(),
                about: parent,
            };
            queue.push(unit).await?;
        }
        queue.flush().await?;
        for (parent, became) in queue.take_done() {
            match became {
                Became::Recorded(events) => self.report.events_made += events,
                Became::Unfit(error) => {
                    let note = format!("the parts of intent {parent} could not be named: {error}");
                    self.report.notes.push(note);
                }
            }
        }
        Ok(())
    }

    /// Names what a file says that does not count. The answer is whether its status does not.
    pub(super) fn name_held(
        &mut self,
        file: &IntentFile,
        id: IntentId,
        held: &HashMap<String, HeldBack>,
    ) -> bool {
        let held = held.get(&file.file.name).copied().unwrap_or_default();
        for remark in held.remarks() {
            self.against(file.file.path(), 1, id, remark);
        }
        held.status.is_some()
    }

    /// Names intents whose status is not what their files say: it is computed, or it was held back.
    pub(super) async fn statuses(
        &mut self,
        files: &[IntentFile],
        held: &HashMap<String, HeldBack>,
    ) -> Result<(), ForgeFolderError> {
        for file in files {
            let name = &file.file.name;
            let Some(id) = self.known.get(name).map(|known| known.id) else {
                continue;
            };
            if self.left.contains(name) {
                continue;
            }
            if self.name_held(file, id, held) {
                continue;
            }
            let computed = self.annals.inbox().status(id).await?;
            let (said, computed) = (file.intent.status, logged::status(computed));
            // One that goes on though its file says proposed has the status of its parts.
            if said != computed && !file.goes_on {
                let violation = format!(
                    "its file says {}, and its tasks and parts come to {}, which counts",
                    said.as_str(),
                    computed.as_str()
                );
                self.against(file.file.path(), 1, id, violation);
            }
        }
        Ok(())
    }
}
