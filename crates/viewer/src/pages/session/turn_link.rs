//! Links to a turn by the position of an event: the number of the turn is looked up when the link is followed.

use annals::At;
use annals::event_log::Position;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use uuid::Uuid;

use crate::answer::{API, Asked};
use crate::problem::Problem;

/// Turns that a page shows before the one that it opens at.
const BEFORE: u64 = 20;

/// Leads to the part of a conversation with the turn of an event.
pub(super) async fn follow(
    asked: &Asked,
    session: Uuid,
    position: Position,
    at: At,
) -> Result<Response, Problem> {
    if position > asked.moment.position {
        return Err(Problem::beyond_end(position, asked.moment.position));
    }
    let turn = asked
        .shared
        .searching
        .turn_of(session, position, at)
        .await?;
    let address = HeaderValue::from_str(&address(asked, turn));
    let address = address.map_err(|_| Problem::invalid("the address cannot be read"))?;
    Ok((StatusCode::SEE_OTHER, [(header::LOCATION, address)]).into_response())
}

/// The address of a turn; of the session, if it has no turns.
fn address(asked: &Asked, turn: Option<u64>) -> String {
    let before = if asked.is_api { 0 } else { BEFORE };
    let from = turn.map(|turn| turn.saturating_sub(before).max(1).to_string());
    let page = asked.with(&[("position", ""), ("from", &from.unwrap_or_default())]);
    match (asked.is_api, turn) {
        (true, _) => format!("{API}{page}"),
        (false, Some(turn)) => format!("{page}#turn-{turn}"),
        (false, None) => page,
    }
}
