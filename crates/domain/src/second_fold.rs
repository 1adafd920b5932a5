//! What a stream says beyond its aggregate's state: a fold of its own, which few decisions need and none
//! has to load otherwise.

use crate::bucket;
use crate::pipeline::{self, Window};
use crate::session::Commits;
use crate::task::TaskText;
use crate::world::Emitted;
use crate::{AnyEvent, Pieces, StreamKind};

/// The second fold of a stream, by the kind of its aggregate.
#[derive(Debug, Clone, PartialEq)]
pub enum SecondFold {
    /// Of a pipeline: the window of its frames; none before the pipeline is.
    Window(Option<Window<()>>),
    /// Of a task: what it says.
    TaskText(TaskText),
    /// Of a session: the files of its commits.
    Commits(Commits),
}

impl SecondFold {
    /// That of no events; `None` for kinds of aggregates without one.
    pub fn empty(kind: StreamKind) -> Option<SecondFold> {
        match kind {
            StreamKind::Pipeline => Some(SecondFold::Window(None)),
            StreamKind::Task => Some(SecondFold::TaskText(TaskText::default())),
            StreamKind::Session => Some(SecondFold::Commits(Commits::default())),
            _ => None,
        }
    }

    /// As much of a decided event as [`SecondFold::apply`] needs, if it is of such a stream.
    pub(crate) fn part_of(emitted: &Emitted) -> Option<Emitted> {
        let pieces = match &emitted.event {
            AnyEvent::Pipeline(_) => Pieces::default(),
            AnyEvent::Task(_) => emitted.pieces.clone(),
            // A command to a gate is the only one of its batch: nothing is decided on it there.
            _ => return None,
        };
        Some(Emitted {
            stream: emitted.stream,
            event: emitted.event.clone(),
            pieces,
        })
    }

    /// Folds a decided event of the same stream in.
    pub(crate) fn apply(&mut self, emitted: &Emitted) {
        match (self, &emitted.event) {
            (SecondFold::Window(window), AnyEvent::Pipeline(event)) => {
                pipeline::evolve_window(window, event);
            }
            (SecondFold::TaskText(text), AnyEvent::Task(event)) => {
                text.apply_decided(event, &emitted.pieces);
            }
            (SecondFold::Commits(commits), AnyEvent::Session(event)) => {
                // What was only decided comes after all that the log has.
                commits.apply_decided(event, bucket::latest(), &emitted.pieces);
            }
            (SecondFold::Window(_) | SecondFold::TaskText(_) | SecondFold::Commits(_), _) => {}
        }
    }
}
