//! The reviews of a folder.

use std::collections::HashMap;
use std::path::Path;

use annals::LoadError;
use annals::domain::{Kind, TaskId};
use annals::wire::stream_name;

use super::{CHANGED_HERE, Import, Trusted};
use crate::forge::facts;
use crate::forge::folder::ForgeFolderError;
use crate::forge::logged;
use crate::forge::queue::{Became, Queue, Unit};
use crate::forge::source::ReviewFile;
use crate::forge::{catch_up, difference, ids};

/// The tasks that a name may mean, with what their intents are called.
type Named = HashMap<String, Vec<(String, TaskId)>>;

impl Import<'_> {
    /// Records the reviews that are not in the log.
    pub(super) async fn reviews(&mut self, files: &[ReviewFile]) -> Result<(), ForgeFolderError> {
        let named = self.named_tasks();
        let mut queue: Queue<'_, &Path> = Queue::new(self.annals, self.taking);
        for file in files {
            self.report.records_read += 1;
            self.shown.file();
            if let Some(task) = self.reviewed(file, &named).await? {
                // Two files may be about one task, by its name and by its id.
                queue.flush_if_touched(task.stream()).await?;
                queue.push_all(self.review(file, task).await?).await?;
            }
        }
        queue.flush().await?;
        for (path, became) in queue.take_done() {
            match became {
                Became::Recorded(events) => {
                    self.recorded(events);
                    self.counts.reviews += 1;
                }
                Became::Unfit(error) => self.unfit(path, 1, &error),
            }
        }
        Ok(())
    }

    /// What tasks are called: by their names, and by their intents' names and theirs.
    fn named_tasks(&self) -> Named {
        let mut named = Named::new();
        for (intent, known) in &self.known {
            for (name, task) in &known.tasks {
                for name in [name.clone(), format!("{intent}.{name}")] {
                    let tasks = named.entry(name).or_default();
                    tasks.push((intent.clone(), *task));
                }
            }
        }
        named
    }

    /// The task that a file is about.
    async fn reviewed(
        &mut self,
        file: &ReviewFile,
        named: &Named,
    ) -> Result<Option<TaskId>, ForgeFolderError> {
        let name = &file.file.name;
        match named.get(name).map(Vec::as_slice) {
            Some([(_, only)]) => return Ok(Some(*only)),
            Some(several @ [_, _, ..]) => {
                let known = self.known_review(file, several).await?;
                if known.is_some() {
                    return Ok(known);
                }
                self.broken(file.file.path(), 1, ambiguous(name, several));
                return Ok(None);
            }
            Some([]) | None => {}
        }
        if let Some(id) = ids::spelled(name)
            && let Some((Kind::Task, _)) = self.annals.index().place(id).await?
        {
            return Ok(Some(TaskId(id)));
        }
        let reason =
            format!("it reviews the task {name:?}, and no intent of the folder has such a task");
        self.broken(file.file.path(), 1, reason);
        Ok(None)
    }

    /// Of several tasks the one that has this review, if only one has it: it was
    /// imported before another task got that name.
    async fn known_review(
        &self,
        file: &ReviewFile,
        several: &[(String, TaskId)],
    ) -> Result<Option<TaskId>, ForgeFolderError> {
        let mut with_it = Vec::new();
        for (_, task) in several {
            let logged = logged::task(self.annals, *task, "").await?;
            let mut reviews = logged.reviews.iter();
            if reviews.any(|it| difference::same_review(it, &file.review)) {
                with_it.push(*task);
            }
        }
        Ok(match with_it[..] {
            [only] => Some(only),
            _ => None,
        })
    }

    async fn review<'f>(
        &mut self,
        file: &'f ReviewFile,
        task: TaskId,
    ) -> Result<Option<Unit<&'f Path>>, ForgeFolderError> {
        let head = self.annals.log().head(&stream_name(task.stream())).await;
        let head = head.map_err(LoadError::from)?;
        let logged = logged::task(self.annals, task, "").await?;
        let is_same = |it| difference::same_review(it, &file.review);
        if logged.reviews.last().is_some_and(is_same) {
            self.report.already_there += 1;
            return Ok(None);
        }
        if !catch_up::course(self.annals, task.stream())
            .await?
            .is_followed
        {
            if logged.reviews.iter().any(is_same) {
                self.report.already_there += 1;
            } else {
                let reason = format!("it is not taken: {CHANGED_HERE}, the task");
                self.passed_over(file.file.path(), reason);
            }
            return Ok(None);
        }
        if self.trusted == Trusted::Nobody
            && catch_up::has_persons_review(self.annals, task.stream()).await?
        {
            let reason = "it is not taken: a person's review of the task is in the log, which only a person's import \
                          replaces; let a person run the import, with --actor human:NAME";
            self.passed_over(file.file.path(), reason.to_owned());
            return Ok(None);
        }
        Ok(Some(Unit {
            events: vec![facts::review(task, &file.review)],
            heads: vec![(task.stream(), head)],
            about: file.file.path(),
        }))
    }
}

fn ambiguous(name: &str, several: &[(String, TaskId)]) -> String {
    let mut intents: Vec<String> = several
        .iter()
        .map(|(intent, _)| format!("{intent}.{name}.yaml"))
        .collect();
    intents.sort();
    format!(
        "several intents have a task {name:?}; call the file {}",
        intents.join(" or ")
    )
}
