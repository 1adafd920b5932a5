//! A plan's steps: one row each, and how many there are in each status.

use annals_domain::plan::{StepStatus, StoredStep};
use annals_domain::{Kind, TaskId};
use bytes::Bytes;
use uuid::Uuid;

use super::Fold;
use crate::catalogue::keys;
use crate::catalogue::relation::Relation;
use crate::catalogue::row::Counts;
use crate::catalogue::status::{step_code, step_status};

/// A step as its row has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    status: StepStatus,
    task: Option<Uuid>,
}

impl Step {
    fn read(value: &[u8]) -> Option<Step> {
        let (code, task) = value.split_first()?;
        Some(Step {
            status: step_status(*code)?,
            task: Uuid::from_slice(task).ok(),
        })
    }

    fn value(self) -> Bytes {
        let mut value = vec![step_code(self.status)];
        if let Some(task) = self.task {
            value.extend_from_slice(task.as_bytes());
        }
        value.into()
    }
}

/// The number of steps in a status.
fn count(counts: &mut Counts, status: StepStatus) -> Option<&mut u64> {
    let Counts::Plan {
        pending,
        progressing,
        completed,
        failed,
        skipped,
    } = counts
    else {
        return None;
    };
    Some(match status {
        StepStatus::Pending => pending,
        StepStatus::Progressing => progressing,
        StepStatus::Completed => completed,
        StepStatus::Failed => failed,
        StepStatus::Skipped => skipped,
    })
}

impl Fold<'_> {
    pub(super) fn step_added(&mut self, index: u32, step: &StoredStep) {
        self.step_in_status(index, step, StepStatus::Pending);
    }

    pub(super) fn step_in_status(&mut self, index: u32, step: &StoredStep, status: StepStatus) {
        let plan = self.own();
        let Some(row) = self.row(Kind::Plan, plan) else {
            return;
        };
        if let Some(steps) = count(&mut row.counts, status) {
            *steps += 1;
        }
        let step_row = Step { status, task: None };
        self.rows.put(&keys::step(plan, index), &step_row.value());
        if let Some(task) = step.task {
            self.step_task(index, task);
        }
    }

    pub(super) fn step_status(&mut self, index: u32, status: StepStatus) {
        let plan = self.own();
        let key = keys::step(plan, index);
        let Some(step) = self.rows.get(&key).and_then(|value| Step::read(value)) else {
            return;
        };
        let Some(row) = self.row(Kind::Plan, plan) else {
            return;
        };
        if let Some(before) = count(&mut row.counts, step.status) {
            *before = before.saturating_sub(1);
        }
        if let Some(after) = count(&mut row.counts, status) {
            *after += 1;
        }
        self.rows.put(&key, &Step { status, ..step }.value());
    }

    pub(super) fn step_task(&mut self, index: u32, task: TaskId) {
        let plan = self.own();
        let key = keys::step(plan, index);
        let Some(step) = self.rows.get(&key).and_then(|value| Step::read(value)) else {
            return;
        };
        let Some(first) = self.row(Kind::Plan, plan).map(|row| row.first) else {
            return;
        };
        if let Some(before) = step.task {
            let backward = keys::backward(before, Relation::StepTask, first, index);
            self.rows.delete(&backward);
        }
        let task = task.0;
        self.append(plan, Relation::StepTask, u64::from(index), task);
        let step = Step {
            task: Some(task),
            ..step
        };
        self.rows.put(&key, &step.value());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_comes_back_from_its_row() {
        for status in StepStatus::ALL {
            for task in [None, Some(Uuid::from_u128(7))] {
                let step = Step {
                    status: *status,
                    task,
                };
                assert_eq!(Step::read(&step.value()), Some(step));
            }
        }
        assert_eq!((Step::read(b""), Step::read(&[9])), (None, None));
    }
}
