//! What deciders knew at a moment: the states of aggregates as they were, and what a decision on them
//! would have looked at.

use std::collections::HashSet;

use annals_domain::session::Commits;
use annals_domain::task::{self, TaskText};
use annals_domain::{
    AnyEvent, AnyState, DecideError, Loaded, Need, SecondFold, Slot, StreamRef, TaskId, World,
};
use annals_projections::{Entry, Text};

use crate::{Annals, At, LoadError};

impl Annals {
    /// What a decision would look at, as it was; `None` where it would be refused.
    pub(crate) async fn ask<T>(
        &self,
        at: At,
        decide: impl Fn(&mut World) -> Result<T, DecideError>,
    ) -> Result<Option<T>, LoadError> {
        let mut world = World::new();
        loop {
            match decide(&mut world) {
                Ok(answer) => return Ok(Some(answer)),
                Err(DecideError::Refused(_)) => return Ok(None),
                Err(DecideError::Needs(needs)) => {
                    for need in needs {
                        self.supply_at(&mut world, need, at).await?;
                    }
                }
            }
        }
    }

    async fn supply_at(&self, world: &mut World, need: Need, at: At) -> Result<(), LoadError> {
        match need {
            Need::State(stream) => world.insert_state(stream, self.state_at(stream, at).await?),
            Need::Place(id) => world.insert_place(id, self.index().place(id).await?),
            Need::Naming { field, target } => {
                let naming = self.all_naming(field, target).await?;
                world.insert_naming(field, target, naming);
            }
            Need::NamedStream { kind, name } => {
                let stream = self.named_stream(kind, &name).await?;
                world.insert_named_stream(kind, name, stream);
            }
            Need::ToolCall { stream, call } => {
                world.insert_tool_call(call, self.tool_call(stream, call, at).await?);
            }
            Need::SecondFold { stream, .. } => {
                if let Some(fold) = SecondFold::empty(stream.kind) {
                    world.insert_second_fold(stream, fold);
                }
            }
        }
        Ok(())
    }

    /// What an aggregate's decider knew of it at a moment.
    pub(crate) async fn state_at(&self, stream: StreamRef, at: At) -> Result<Loaded, LoadError> {
        let mut loaded = Loaded::absent(stream.kind);
        let state = &mut loaded.state;
        let last = self
            .each_entry(
                stream,
                at,
                |_| true,
                |entry| {
                    state.evolve(&entry.event, &entry.origin());
                },
            )
            .await?;
        loaded.version = last.0;
        Ok(loaded)
    }

    pub(crate) async fn task_state(&self, task: TaskId, at: At) -> Result<task::State, LoadError> {
        match self.state_at(task.stream(), at).await?.state {
            AnyState::Task(state) => Ok(task::State::clone(&state)),
            _ => Ok(task::State::default()),
        }
    }

    /// Whether all of these tasks are done, or those that took their place.
    pub(crate) async fn are_done(&self, tasks: &[TaskId], at: At) -> Result<bool, LoadError> {
        for task in tasks {
            if self.newest_task(*task, at).await?.1 != task::Status::Done {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The task that is in this one's place, and its status.
    pub(crate) async fn newest_task(
        &self,
        task: TaskId,
        at: At,
    ) -> Result<(TaskId, task::Status), LoadError> {
        let (mut newest, mut seen) = (task, HashSet::new());
        let mut state = self.task_state(newest, at).await?;
        while let Some(next) = state.superseded_by.filter(|next| seen.insert(*next)) {
            newest = next;
            state = self.task_state(newest, at).await?;
        }
        Ok((newest, state.status))
    }

    /// What a task says, as the events up to a version left it.
    pub(crate) async fn task_text(
        &self,
        stream: StreamRef,
        version: u64,
    ) -> Result<TaskText, LoadError> {
        let mut text = TaskText::default();
        let mut seen = 0;
        self.each_entry(
            stream,
            At::Now,
            |_| true,
            |entry| {
                seen += 1;
                if seen <= version
                    && let AnyEvent::Task(event) = &entry.event
                {
                    text.apply(event, &|slot| present(&entry, slot));
                }
            },
        )
        .await?;
        Ok(text)
    }

    /// The files of a session's commits, as the events up to a version left them.
    pub(crate) async fn commits(
        &self,
        stream: StreamRef,
        version: u64,
    ) -> Result<Commits, LoadError> {
        let mut commits = Commits::default();
        self.each_entry(
            stream,
            At::Now,
            |event| matches!(event, AnyEvent::Session(event) if Commits::is_about(event)),
            |entry| {
                if entry.version.0 <= version
                    && let AnyEvent::Session(event) = &entry.event
                {
                    let at = entry.occurred_at;
                    commits.apply(event, at, &|slot| present(&entry, slot));
                }
            },
        )
        .await?;
        Ok(commits)
    }
}

/// The text of a slot, unless it was removed.
fn present(entry: &Entry, slot: Slot) -> Option<String> {
    match entry.text(slot) {
        Text::Present(text) => Some(text),
        Text::Removed => None,
    }
}
