//! Intents that wait for each other, as parts or as dependencies: all of a folder, or some of it
//! and others of the log.

use std::collections::{HashMap, HashSet};

use annals::At;
use annals::domain::{IntentId, Kind};
use annals::projections::Relation;

use super::Import;
use crate::forge::folder::ForgeFolderError;
use crate::forge::names::known_as;
use crate::forge::order::tangles;
use crate::forge::source::IntentFile;

/// Intents of the log that are looked at; what lies behind them is not.
const MOST_LOGGED: usize = 10_000;

/// What waits for what. The files of the folder come first, in their order.
struct Waiting {
    ids: Vec<IntentId>,
    /// What files call those that are not among them.
    names: HashMap<IntentId, String>,
    places: HashMap<IntentId, usize>,
    needs: Vec<Vec<usize>>,
}

impl Waiting {
    /// The place of an intent, which is looked at later if it is new.
    fn place(&mut self, id: IntentId, most: usize) -> Option<usize> {
        if let Some(place) = self.places.get(&id) {
            return Some(*place);
        }
        let place = self.ids.len();
        if place >= most {
            return None;
        }
        self.ids.push(id);
        self.needs.push(Vec::new());
        self.places.insert(id, place);
        Some(place)
    }

    /// The same of one that a file calls so.
    fn named(&mut self, id: IntentId, name: &str, most: usize) -> Option<usize> {
        let place = self.place(id, most)?;
        self.names.entry(id).or_insert_with(|| name.to_owned());
        Some(place)
    }

    fn needs(&mut self, waits: usize, other: usize) {
        if let Some(list) = self.needs.get_mut(waits)
            && !list.contains(&other)
        {
            list.push(other);
        }
    }
}

impl Import<'_> {
    /// Names intents that wait for each other, and says which they are.
    pub(super) async fn refuse_rings(
        &mut self,
        files: &[IntentFile],
    ) -> Result<HashSet<String>, ForgeFolderError> {
        let waiting = self.waiting(files).await?;
        let mut names = HashSet::new();
        for (tangle, around) in tangles(&waiting.needs) {
            let mut path = Vec::new();
            for place in tangle.iter().take(around).chain(tangle.first()) {
                path.push(match (files.get(*place), waiting.ids.get(*place)) {
                    (Some(file), _) => file.file.name.clone(),
                    (None, Some(id)) => match waiting.names.get(id) {
                        Some(name) => name.clone(),
                        None => self.annals.index().called(id.0).await?,
                    },
                    (None, None) => continue,
                });
            }
            let reason = format!(
                "the intents wait for each other, as parts or as dependencies: {}; take one of \
                 these out",
                path.join(" -> ")
            );
            for file in tangle.iter().filter_map(|at| files.get(*at)) {
                let line = file.depends_on_line.max(file.parent_line);
                self.broken(file.file.path(), line, reason.clone());
                names.insert(file.file.name.clone());
            }
        }
        Ok(names)
    }

    /// What the files wait for, and what of the log these wait for.
    async fn waiting(&self, files: &[IntentFile]) -> Result<Waiting, ForgeFolderError> {
        let mut by_name = HashMap::new();
        let mut waiting = Waiting {
            ids: Vec::with_capacity(files.len()),
            names: HashMap::new(),
            places: HashMap::new(),
            needs: vec![Vec::new(); files.len()],
        };
        for (place, file) in files.iter().enumerate() {
            let id = self.id_of(&file.file.name).await?;
            waiting.ids.push(id);
            waiting.places.entry(id).or_insert(place);
            by_name.insert(file.file.name.as_str(), place);
        }
        let most = files.len().saturating_add(MOST_LOGGED);
        for (place, file) in files.iter().enumerate() {
            for name in &file.intent.depends_on {
                let other = match by_name.get(name.as_str()) {
                    Some(other) => Some(*other),
                    None => waiting.named(self.id_of(name).await?, name, most),
                };
                if let Some(other) = other {
                    waiting.needs(place, other);
                }
            }
            // What has parts waits for them.
            if let Some(name) = &file.intent.parent {
                let parent = match by_name.get(name.as_str()) {
                    Some(parent) => Some(*parent),
                    None => waiting.named(self.id_of(name).await?, name, most),
                };
                if let Some(parent) = parent {
                    waiting.needs(parent, place);
                }
            }
        }
        self.follow(&mut waiting, files.len(), most).await?;
        Ok(waiting)
    }

    /// Follows what waits for what through the log, from the intents that are known.
    async fn follow(
        &self,
        waiting: &mut Waiting,
        files: usize,
        most: usize,
    ) -> Result<(), ForgeFolderError> {
        let mut place = 0;
        while let Some(id) = waiting.ids.get(place).copied() {
            let naming = self
                .annals
                .index()
                .naming(id, Relation::IntentChildOf, MOST_LOGGED);
            let mut others: Vec<IntentId> = naming.await?.into_iter().map(IntentId).collect();
            // What a file says counts for its own intent, and the log for the others.
            if place >= files
                && let Some((Kind::Intent, _)) = self.annals.index().place(id).await?
            {
                let view = self.annals.inbox().forge_intent(id, At::Now).await;
                others.extend(view?.dependencies);
            }
            for other in others {
                if let Some(other) = waiting.place(other, most) {
                    waiting.needs(place, other);
                }
            }
            place += 1;
        }
        Ok(())
    }

    /// The id of the intent of this name, which it has or would get.
    pub(super) async fn id_of(&self, name: &str) -> Result<IntentId, ForgeFolderError> {
        let known = known_as(self.annals, &self.ids, name).await?;
        let known = known.filter(|object| object.kind == Kind::Intent);
        Ok(known.map_or_else(|| self.ids.intent(name), |object| IntentId(object.id)))
    }
}
