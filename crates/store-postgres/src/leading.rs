//! Which read models this process keeps current for all that share them: a lease for each, which is asked for again
//! before it ends, and given back when the log is closed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::future::join_all;
use tokio::runtime::Handle;

use crate::lease::Lease;
use crate::shared::Shared;

/// What is known of one model's lease.
struct Place {
    lease: Arc<Lease>,
    /// Whether this process has it, and until when that is taken for so.
    known: Option<(bool, Instant)>,
}

/// The models that this process was asked about.
pub(crate) struct Leading {
    shared: Arc<Shared>,
    handle: Handle,
    places: Mutex<HashMap<String, Place>>,
}

impl Leading {
    pub(crate) fn new(shared: Arc<Shared>, handle: Handle) -> Leading {
        Leading {
            shared,
            handle,
            places: Mutex::default(),
        }
    }

    /// Whether this process leads. Where the server cannot be asked, it does nothing for others.
    pub(crate) async fn leads(&self, model: &str) -> bool {
        let lasts = self.shared.settings.leading_lasts;
        let (lease, known) = self.place(model, lasts);
        let now = Instant::now();
        if let Some((leads, until)) = known
            && now < until
        {
            return leads;
        }
        let leads = match lease.take().await {
            Ok(leads) => leads,
            Err(error) => {
                tracing::debug!(%error, model, "the lease cannot be asked for");
                false
            }
        };
        self.shared.metrics.leads(model, leads);
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = places.get_mut(model) {
            // Asked again well before it ends, so that nobody takes over who need not.
            place.known = Some((leads, now + lasts / 3));
        }
        leads
    }

    fn place(&self, model: &str, lasts: Duration) -> (Arc<Lease>, Option<(bool, Instant)>) {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let place = places.entry(model.to_owned()).or_insert_with(|| {
            let name = format!("model {model}");
            let (shared, handle) = (Arc::clone(&self.shared), self.handle.clone());
            Place {
                lease: Arc::new(Lease::new(shared, handle, &name, lasts)),
                known: None,
            }
        });
        (Arc::clone(&place.lease), place.known)
    }

    /// Lets others lead at once.
    pub(crate) async fn end(&self) {
        let places = {
            let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *places)
        };
        let held = places.into_values().filter(|place| {
            let known = place.known;
            known.is_some_and(|(leads, _)| leads)
        });
        // One that cannot be given back ends by itself.
        join_all(held.map(|place| async move { place.lease.give_back().await })).await;
    }
}
