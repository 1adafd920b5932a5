//! Tasks of a folder that would act upon what the log has from elsewhere: made here, or taken from another
//! system.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use annals::domain::TaskId;

use super::{Import, NOT_OF_FOLDER};
use crate::forge::folder::ForgeFolderError;
use crate::forge::source::TasksFile;
use crate::forge::task::Placed;

/// The tasks of a file that are not taken as it has them, each with why.
#[derive(Debug, Default)]
pub(super) struct Ties(HashMap<TaskId, String>);

impl Ties {
    /// Why a task is not taken.
    pub(super) fn reason(&self, task: TaskId) -> Option<&str> {
        self.0.get(&task).map(String::as_str)
    }
}

impl Import<'_> {
    /// Finds tasks that are new to an intent from elsewhere, tasks that depend on one from elsewhere, and
    /// tasks that wait for one that is not taken.
    pub(super) async fn ties(
        &self,
        file: &TasksFile,
        good: &[&Placed],
        names: &HashMap<String, TaskId>,
    ) -> Result<Ties, ForgeFolderError> {
        let intent = &file.file.name;
        let may_add = self.known.get(intent).is_some_and(|it| it.is_of_folder);
        let mut ties = Ties::default();
        let mut waiters: HashMap<TaskId, Vec<TaskId>> = HashMap::new();
        let mut new = HashSet::new();
        for placed in good {
            let task = &placed.task;
            let Some(id) = names.get(&task.id).copied() else {
                continue;
            };
            let is_new = self.annals.index().place(id.0).await?.is_none();
            if is_new {
                new.insert(id);
            }
            if is_new && !may_add {
                let why = format!(
                    "no file adds tasks to the intent {intent:?}: {NOT_OF_FOLDER}; add it here, or import \
                     the folder into another log"
                );
                ties.0.insert(id, why);
                continue;
            }
            for name in &task.depends_on {
                let Some(other) = names.get(name).copied() else {
                    continue;
                };
                waiters.entry(other).or_default().push(id);
                let is_there = self.annals.index().place(other.0).await?.is_some();
                if is_there && !self.is_of_folder(other.stream()).await? {
                    let why = format!(
                        "it depends on {name:?}, and nothing of a folder depends on that task: \
                         {NOT_OF_FOLDER}; take that out, or import the folder into another log"
                    );
                    ties.0.entry(id).or_insert(why);
                }
            }
        }
        // What is new and not taken is not there for others to wait for.
        let mut open: Vec<TaskId> = new
            .iter()
            .copied()
            .filter(|id| ties.0.contains_key(id))
            .collect();
        while let Some(missing) = open.pop() {
            for waiter in waiters.remove(&missing).unwrap_or_default() {
                if let Entry::Vacant(vacant) = ties.0.entry(waiter) {
                    vacant.insert("it depends on a task of the file that is not taken".to_owned());
                    open.extend(new.contains(&waiter).then_some(waiter));
                }
            }
        }
        Ok(ties)
    }
}
