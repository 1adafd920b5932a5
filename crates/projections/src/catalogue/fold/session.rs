//! What happens in a session: its status, and what its row counts and names.
//!
//! The status after an event is what the session's own fold says; it follows
//! from the last event that sets one, so that the row needs no more than that.

use annals_domain::session::{
    CommandResult, Created, Event, PlanNodeLinked, SessionStatus, StoredConfig,
};
use annals_domain::{Kind, RunId};
use bytes::Bytes;
use uuid::Uuid;

use super::Fold;
use super::create::Beginning;
use crate::catalogue::keys;
use crate::catalogue::relation::Relation;
use crate::catalogue::row::{Counts, link};
use crate::catalogue::status::Status;

/// The counts of a session in which nothing has happened.
const NONE_YET: Counts = Counts::Session {
    commands: 0,
    accepted: 0,
    rejected: 0,
    throttled: 0,
    completed: 0,
    failed: 0,
    runs: 0,
    tasks: 0,
};

/// What became of a command.
#[derive(Clone, Copy)]
enum Step {
    Given,
    Accepted,
    Rejected,
    Throttled,
    Ended(CommandResult),
}

impl Fold<'_> {
    pub(super) fn session(&mut self, event: &Event) {
        match event {
            Event::Created(event) => self.session_created(event),
            Event::Adopted(event) => self.session_adopted(event.config.as_ref()),
            Event::Paused(_) => self.session_status(SessionStatus::Paused),
            Event::Resumed(_) => self.session_status(SessionStatus::Running),
            Event::Approved(_) | Event::ApprovalDenied(_) | Event::ApprovalExpired(_) => {
                self.unless_paused(SessionStatus::Running);
            }
            Event::ApprovalRequired(_) => self.unless_paused(SessionStatus::NeedsApproval),
            Event::Aborted(_) => self.session_status(SessionStatus::Error),
            Event::Completed(_) => self.session_status(SessionStatus::Completed),
            Event::StatusRecorded(event) => self.session_status(event.status),
            Event::CommandReceived(_) => self.count_command(Step::Given),
            Event::CommandAccepted(_) => self.count_command(Step::Accepted),
            Event::CommandRejected(_) => self.count_command(Step::Rejected),
            Event::Throttled(_) => self.count_command(Step::Throttled),
            Event::CommandCompleted(event) => self.count_command(Step::Ended(event.outcome)),
            Event::PlanNodeLinked(event) => self.node_linked(event),
            Event::RunAttached(event) => self.run_attached(event.run),
            Event::BacklogQueried(event) => self.work_items_listed(&event.items),
            Event::WorkItemQueried(event) => self.work_item_queried(&event.item),
            Event::CommandQueued(_)
            | Event::ConflictDetected(_)
            | Event::ArtifactAvailable(_)
            | Event::PlanUpdated(_)
            | Event::ForeignRecorded(_)
            | Event::MetadataSet(_)
            | Event::Redacted(_) => {}
        }
    }

    fn session_status(&mut self, status: SessionStatus) {
        self.set_status(Kind::Session, self.own(), status.into());
    }

    /// A paused session stays so until it is resumed.
    fn unless_paused(&mut self, status: SessionStatus) {
        let row = self.row(Kind::Session, self.own());
        if row.is_none_or(|row| row.status != Some(Status::Paused)) {
            self.session_status(status);
        }
    }

    fn session_created(&mut self, event: &Created) {
        if !self.create_session(Status::Running, Some(&event.config)) {
            self.configure(&event.config);
            self.session_status(SessionStatus::Running);
        }
    }

    /// More of a session that was taken over may come later.
    fn session_adopted(&mut self, config: Option<&StoredConfig>) {
        if !self.create_session(Status::Unknown, config)
            && let Some(config) = config
        {
            self.configure(config);
        }
    }

    fn create_session(&mut self, status: Status, config: Option<&StoredConfig>) -> bool {
        let parent = config.and_then(|config| link(Relation::SessionParent, config.parent));
        let beginning = Beginning {
            status: Some(status),
            sort: config.map(|config| config.policy.name.clone()),
            links: parent.into_iter().collect(),
            counts: NONE_YET,
        };
        self.create(Kind::Session, self.own(), beginning)
    }

    /// Sets up a session that is there.
    fn configure(&mut self, config: &StoredConfig) {
        let id = self.own();
        let Some(row) = self.row(Kind::Session, id) else {
            return;
        };
        row.sort = Some(config.policy.name.clone());
        self.set_title(Kind::Session, id);
        match config.parent {
            Some(parent) => self.link(id, Relation::SessionParent, parent.0),
            None => self.unlink(id, Relation::SessionParent),
        }
    }

    fn count_command(&mut self, step: Step) {
        let Some(row) = self.row(Kind::Session, self.own()) else {
            return;
        };
        if let Counts::Session {
            commands,
            accepted,
            rejected,
            throttled,
            completed,
            failed,
            ..
        } = &mut row.counts
        {
            *match step {
                Step::Given => commands,
                Step::Accepted => accepted,
                Step::Rejected => rejected,
                Step::Throttled => throttled,
                Step::Ended(CommandResult::Success) => completed,
                Step::Ended(CommandResult::Failure) => failed,
            } += 1;
        }
    }

    /// A run is listed where it was attached first.
    fn run_attached(&mut self, run: RunId) {
        let (session, key) = (self.own(), keys::run_of_session(self.own(), run.0));
        if self.rows.get(&key).is_some() {
            return;
        }
        let Some(row) = self.row(Kind::Session, session) else {
            return;
        };
        if let Counts::Session { runs, .. } = &mut row.counts {
            let number = *runs;
            *runs += 1;
            self.rows.put(&key, &number_bytes(number));
            self.append(session, Relation::SessionRuns, number, run.0);
        }
    }

    /// A node has one task, the last one that it was linked to.
    fn node_linked(&mut self, event: &PlanNodeLinked) {
        let (session, task) = (self.own(), event.task.0);
        let key = keys::node_of_session(session, &event.node);
        let known = self.rows.get(&key).and_then(read_node);
        let Some(row) = self.row(Kind::Session, session) else {
            return;
        };
        let first = row.first;
        let Counts::Session { tasks, .. } = &mut row.counts else {
            return;
        };
        let number = match known {
            Some((number, before)) => {
                let relation = Relation::SessionTasks;
                self.rows
                    .delete(&keys::backward(before, relation, first, number));
                number
            }
            None => {
                let number = u32::try_from(*tasks).unwrap_or(u32::MAX);
                *tasks += 1;
                number
            }
        };
        self.append(session, Relation::SessionTasks, number.into(), task);
        let value = [&number.to_be_bytes()[..], task.as_bytes()].concat();
        self.rows.put(&key, &value);
    }
}

fn number_bytes(number: u64) -> [u8; 4] {
    u32::try_from(number).unwrap_or(u32::MAX).to_be_bytes()
}

/// The number of a node and its task, from the node's row.
fn read_node(value: &Bytes) -> Option<(u32, Uuid)> {
    let (number, task) = value.split_first_chunk::<4>()?;
    Some((u32::from_be_bytes(*number), Uuid::from_slice(task).ok()?))
}
