//! Costs, which are added up on a thread that may be blocked: it reads many rows at once, and gives no other request a
//! turn.

use annals::blocking::Wait as _;
use annals::projections::CostReport;
use annals::{Annals, CostQuery};
use axum::http::StatusCode;

use crate::problem::Problem;

/// The costs that a query asks for.
pub(crate) async fn report(annals: &Annals, query: CostQuery) -> Result<CostReport, Problem> {
    let annals = annals.clone();
    let adding = tokio::task::spawn_blocking(move || annals.costs().report(&query).wait());
    match adding.await {
        Ok(report) => Ok(report?),
        Err(error) => {
            tracing::warn!(%error, "costs were not added up");
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            Err(Problem::new(status, "costs", "the costs were not added up"))
        }
    }
}
