//! Costs, which are added up on a thread that may be blocked.

use annals::blocking::Wait as _;
use annals::projections::{CostReport, amount_of_money};
use annals::{Annals, CostQuery};

use uuid::Uuid;

use crate::blocking::blocking;
use crate::problem::Problem;

/// The costs that a query asks for.
pub(crate) async fn report(annals: &Annals, query: CostQuery) -> Result<CostReport, Problem> {
    let annals = annals.clone();
    blocking("costs", move || annals.costs().report(&query).wait()).await
}

/// What a run, a task, an intent or a session cost until now; `None` where that is not known.
pub(crate) async fn of(annals: &Annals, id: Uuid) -> Result<Option<String>, Problem> {
    let report = report(annals, CostQuery::default().with_of(id)).await?;
    let (sums, currency) = (&report.total, &report.currency);
    Ok(match (sums.computed_micros, sums.recorded_micros()) {
        (0, None) => None,
        (0, Some(recorded)) => Some(amount_of_money(recorded, "USD")),
        (computed, _) => Some(amount_of_money(computed, currency)),
    })
}
