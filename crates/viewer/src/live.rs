//! The log as it grows, by server-sent events: which streams have new events, so that a page knows whether it is one of
//! them.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use annals::event_log::{Position, Query};
use annals_http::ended;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::{Stream, stream};
use schemars::JsonSchema;
use serde::Serialize;

use crate::moment::Params;
use crate::problem::Problem;
use crate::state::Shared;

/// Records that are looked at for one message. Where more came, it says so instead of naming their streams.
const MOST: usize = 200;
/// What is said while nothing comes, so that a connection that is gone is noticed.
const BEAT: Duration = Duration::from_secs(10);
/// Between two messages, so that a log that is written to quickly does not become a message an event.
const PAUSE: Duration = Duration::from_millis(100);

/// One message: what is new in the log.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct News {
    /// Where the log ends now.
    position: u64,
    /// The streams that have new events, as `kind-uuid`.
    streams: BTreeSet<String>,
    /// Whether more came than were looked at, so that any stream may have new events.
    more: bool,
}

/// Follows the log behind a position. It ends when the viewer does.
pub(crate) async fn follow(
    State(shared): State<Arc<Shared>>,
    params: Params,
) -> Result<Response, Problem> {
    let end = shared.annals.position();
    let after = params.position("after")?.unwrap_or(end).min(end);
    let news = news(&shared, after)?;
    let beat = KeepAlive::new().interval(BEAT);
    Ok(Sse::new(news).keep_alive(beat).into_response())
}

/// What is read for one page that follows.
struct Following {
    shared: Arc<Shared>,
    seen: Position,
    /// Its place among the pages that follow.
    _place: Place,
}

struct Place(Arc<Shared>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.followers.add_permits(1);
    }
}

fn news(
    shared: &Arc<Shared>,
    after: Position,
) -> Result<impl Stream<Item = Result<Event, Infallible>> + use<>, Problem> {
    match shared.followers.try_acquire() {
        // It is given back when the stream is dropped, which outlives this request.
        Ok(permit) => permit.forget(),
        Err(_) => return Err(Problem::busy("too many pages follow the log already")),
    }
    let following = Following {
        shared: Arc::clone(shared),
        seen: after,
        _place: Place(Arc::clone(shared)),
    };
    let begun = Event::default().comment("follows");
    let next = |mut following: Following| async move {
        let ended = ended(following.shared.goes_on.clone());
        let news = tokio::select! {
            news = following.next() => news?,
            () = ended => return None,
        };
        let event = Event::default().event("records").json_data(news).ok()?;
        Some((Ok(event), following))
    };
    let first = stream::once(async { Ok(begun) });
    Ok(futures::StreamExt::chain(
        first,
        stream::unfold(following, next),
    ))
}

impl Following {
    /// What is new; none where the log cannot be read any more.
    async fn next(&mut self) -> Option<News> {
        let log = Arc::clone(self.shared.annals.log());
        log.wait_above(self.seen).await.ok()?;
        tokio::time::sleep(PAUSE).await;
        let end = log.watermark();
        let query = Query::all(self.seen.next()).limit(MOST);
        let page = log.read(query).await.ok()?;
        let streams = page.records.iter().map(|record| record.stream().to_owned());
        let last = page
            .records
            .last()
            .map_or(self.seen, |last| last.position());
        let more = last < end;
        self.seen = end.max(last);
        Some(News {
            position: self.seen.0,
            streams: streams.collect(),
            more,
        })
    }
}
