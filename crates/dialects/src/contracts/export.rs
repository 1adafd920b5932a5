//! `export contracts`: a session as its stream in the contracts.

use std::sync::Arc;

use annals::domain::session::Event;
use annals::domain::{AnyEvent, SessionId};
use annals::projections::{Entry, Merged};
use annals::{Annals, LoadError};
use annals_event_log::{Digest, Position, Query, Store, Version};
use bytes::Bytes;
use futures::{Stream, stream};

use super::of_plan::PlanOfRuns;
use super::of_run::{RunEvent, shown_of_run};
use super::render::{Commands, Rendered, Renderer};

/// Records read at once.
const PAGE: usize = 200;

/// The entries of a session's stream that are there now, in their order.
pub(super) fn session_entries(
    annals: &Annals,
    session: SessionId,
) -> impl Stream<Item = Result<Entry, LoadError>> + '_ {
    let name = annals::wire::stream_name(session.stream());
    let pages = stream::try_unfold(Some(1), move |next| {
        let name = name.clone();
        async move {
            let Some(from) = next else {
                return Ok::<_, LoadError>(None);
            };
            let query = Query::stream(name, Version(from)).limit(PAGE);
            let page = annals.log().read(query).await?;
            let mut entries = Vec::with_capacity(page.records.len());
            for record in &page.records {
                entries.push(Ok(annals.contents().entry(record).await?));
            }
            Ok(Some((stream::iter(entries), page.next)))
        }
    });
    futures::TryStreamExt::try_flatten(pages)
}

/// The objects that the next entry of a session's stream shows, with the file
/// that one of them has in it.
///
/// # Errors
/// [`LoadError`].
pub async fn show(
    annals: &Annals,
    renderer: &mut Renderer,
    entry: &Entry,
) -> Result<Vec<Rendered>, LoadError> {
    let file = file_of(annals, renderer.wanted(entry)).await?;
    Ok(renderer.render(entry, file.as_deref()))
}

/// A file that is stored by itself, where one is wanted.
async fn file_of(annals: &Annals, wanted: Option<Digest>) -> Result<Option<Bytes>, LoadError> {
    match wanted {
        Some(digest) => Ok(annals.contents().get(digest).await?),
        None => Ok(None),
    }
}

/// Gives every object of a session's stream to `each`, in the order of the log:
/// what the session's own events show, patch sets, evidence and failures of its
/// runs as the artifacts that they are, and their plan as its plan.
///
/// # Errors
/// [`LoadError`], and what `each` says.
pub async fn export<E: From<LoadError>>(
    annals: &Annals,
    session: SessionId,
    commands: Commands,
    through: Position,
    mut each: impl FnMut(Rendered) -> Result<(), E>,
) -> Result<(), E> {
    let log: Arc<dyn Store> = Arc::clone(annals.log());
    let mut merged = Merged::new(log.as_ref());
    let read = |error| E::from(LoadError::from(error));
    merged.add(session.stream()).await.map_err(read)?;
    let mut renderer = Renderer::new(commands);
    let mut plan = PlanOfRuns::default();
    while let Some(record) = merged.next().await.map_err(read)? {
        if record.position() > through {
            break;
        }
        let entry = annals.contents().entry(&record).await?;
        let mut planned = plan.fold(annals, &entry).await?;
        if let AnyEvent::Session(event) = &entry.event {
            let shown = show(annals, &mut renderer, &entry).await?;
            shown.into_iter().try_for_each(&mut each)?;
            match event {
                Event::PlanUpdated(_) => plan.replaced(),
                Event::RunAttached(attached) => {
                    merged.add(attached.run.stream()).await.map_err(read)?;
                    let attached = plan.attached(annals, attached.run, entry.position);
                    planned = attached.await?;
                }
                _ => {}
            }
        } else if let Some(event) = RunEvent::of(&entry) {
            let file = file_of(annals, event.wanted(&entry)).await?;
            each(shown_of_run(session, &entry, event, file.as_deref()))?;
        }
        if planned {
            let shown = plan.show(session, &entry);
            shown.into_iter().try_for_each(&mut each)?;
            for stream in plan.unfollowed() {
                merged.add(stream).await.map_err(read)?;
            }
        }
    }
    renderer.finish().into_iter().try_for_each(&mut each)
}
