//! Settings of a log: the rules that its deciders follow, recorded like everything else.
//!
//! There is one stream of them. A setting that was never set has its default.

mod budget;
mod budget_decide;
mod command;
pub(crate) mod decide;
mod event;
mod evolve;
mod names;

#[cfg(test)]
mod tests;

pub use budget::{Budget, BudgetPeriod, OverBudget};
pub(crate) use budget_decide::{remove as remove_budget, set as set_budget};
pub use command::{RemoveBudget, SetBudget, SetSetting};
pub use event::{BudgetRemoved, BudgetSet, Event, Set, Setting};
pub use evolve::{State, evolve};
pub(crate) use names::{each_name, may_have_names};

use std::sync::Arc;

use uuid::Uuid;

use crate::world::not_found;
use crate::{AnyState, DecideError, Dependence, StreamKind, StreamRef, World};

/// The stream of a log's settings.
pub fn stream() -> StreamRef {
    StreamRef {
        kind: StreamKind::Settings,
        id: Uuid::new_v5(&Uuid::NAMESPACE_DNS, b"settings.annals"),
    }
}

impl World {
    /// The log's settings; those that were never set have their defaults.
    pub fn settings(&mut self) -> Result<Arc<State>, DecideError> {
        let stream = stream();
        match &self.depend(stream, Dependence::State)?.state {
            AnyState::Settings(state) => Ok(Arc::clone(state)),
            _ => Err(not_found(stream)),
        }
    }
}
