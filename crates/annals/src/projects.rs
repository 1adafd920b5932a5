//! The project of a run, as recorded when the run was created.

use std::collections::{HashMap, HashSet};

use annals_domain::{AnyEvent, StoredEnvironment, StreamKind, StreamRef, run};
use annals_event_log::{Query, Version};
use annals_projections::{Entry, REMOVED_PROJECT, Relation, Text, project_root};
use annals_wire::stream_name;
use uuid::Uuid;

use crate::{Annals, LoadError};

/// The name of the project in a run's environment. Recordings that were imported before it was recorded have the working directory
/// alone.
const PROJECT: &str = "project";
/// Runs of a task that are looked at.
const RUNS: usize = 8;

impl Annals {
    /// The projects of tasks, by the environment of a run of each; [`REMOVED_PROJECT`] for one that was removed. It reads one
    /// event a task.
    pub(crate) async fn projects_of(
        &self,
        tasks: HashSet<Uuid>,
    ) -> Result<HashMap<Uuid, String>, LoadError> {
        let mut projects = HashMap::new();
        for task in tasks {
            for run in self.index().naming(task, Relation::RunTask, RUNS).await? {
                if let Some(project) = self.project_of_run(run).await? {
                    projects.insert(task, project);
                    break;
                }
            }
        }
        Ok(projects)
    }

    /// The project of a run: the one that its environment names, else its working directory.
    pub(crate) async fn project_of_run(&self, run: Uuid) -> Result<Option<String>, LoadError> {
        let stream = StreamRef {
            kind: StreamKind::Run,
            id: run,
        };
        let first = Query::stream(stream_name(stream), Version(1)).limit(1);
        let page = self.log.read(first).await?;
        let Some(record) = page.records.first() else {
            return Ok(None);
        };
        let entry = Entry::new(record, &Entry::fetch(self.log.as_ref(), record).await?)?;
        let environment = match &entry.event {
            AnyEvent::Run(run::Event::Created(event)) => event.environment.as_ref(),
            AnyEvent::Run(run::Event::Adopted(event)) => {
                let adopted = event.object.as_ref();
                adopted.and_then(|adopted| adopted.environment.as_ref())
            }
            _ => None,
        };
        Ok(environment.and_then(|environment| project(environment, &entry)))
    }
}

fn project(environment: &StoredEnvironment, entry: &Entry) -> Option<String> {
    // A field whose name was removed may be the project.
    let mut extra = environment.extra.iter().filter(|(name, _)| {
        let name = entry.text(*name);
        name == Text::Removed || name.as_str() == Some(PROJECT)
    });
    let named = match extra.next() {
        Some((_, json)) => match entry.json(*json).json() {
            Some(json) => serde_json::from_str::<String>(json.text()).ok(),
            None => Some(REMOVED_PROJECT.to_owned()),
        },
        None => None,
    };
    let path = named.unwrap_or_else(|| match entry.text(environment.cwd) {
        Text::Present(directory) => directory,
        Text::Removed => REMOVED_PROJECT.to_owned(),
    });
    Some(project_root(&path).to_owned()).filter(|path| !path.is_empty())
}
