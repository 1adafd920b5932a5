//! Costs, which are added up on a thread that may be blocked.

use annals::blocking::Wait as _;
use annals::projections::CostReport;
use annals::{Annals, CostQuery};

use crate::blocking::blocking;
use crate::problem::Problem;

/// The costs that a query asks for.
pub(crate) async fn report(annals: &Annals, query: CostQuery) -> Result<CostReport, Problem> {
    let annals = annals.clone();
    blocking("costs", move || annals.costs().report(&query).wait()).await
}
