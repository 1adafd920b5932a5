//! Work on a thread that may be blocked: it reads many rows at once, and gives no other request a turn.

use axum::http::StatusCode;

use crate::problem::Problem;

/// Runs work that has a name on such a thread.
pub(crate) async fn blocking<T, E>(
    name: &'static str,
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, Problem>
where
    T: Send + 'static,
    E: Into<Problem> + Send + 'static,
{
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(Into::into),
        Err(error) => {
            tracing::warn!(%error, "{name} could not be read");
            let detail = format!("the {name} could not be read");
            Err(Problem::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                name,
                detail,
            ))
        }
    }
}
