//! An answer as a page or as JSON.

use axum::response::Response;
use maud::Markup;
use serde::Serialize;

use crate::answer::{Asked, Envelope, Page};
use crate::problem::Problem;
use crate::shell::{self, PageFacts};
use crate::{proof, shown};

impl Asked {
    /// Answers with a page, or its JSON. It is drawn before anything is waited for, so that what draws it may borrow.
    pub(crate) fn answer<T: Serialize + Send>(
        &self,
        page: Page<T>,
        draw: impl FnOnce(&T) -> Markup,
    ) -> impl Future<Output = Result<Response, Problem>> + Send {
        let body = (!self.is_api).then(|| draw(&page.data));
        async move {
            let Some(body) = body else {
                let envelope = self.envelope(page.data).await?;
                return shown::json(&envelope);
            };
            let around = self.envelope(()).await?;
            let page = page.with_data(body);
            let around = PageFacts {
                proof: &around.proof,
                recorded_at: around.recorded_at.as_deref(),
                // The number is of now, which a page of the past does not show.
                inbox: match self.moment.is_chosen {
                    true => None,
                    false => self.shared.inbox_count.get(self.annals()).await,
                },
            };
            Ok(shown::page(shell::page(self, &page, &around)))
        }
    }

    /// Puts data into the envelope of the API.
    pub(crate) async fn envelope<T>(&self, data: T) -> Result<Envelope<T>, Problem> {
        let annals = self.annals();
        let record = annals.contents().record(self.moment.position).await?;
        let record = record.filter(|record| record.position() == self.moment.position);
        let time = record.map(|it| annals::domain::Timestamp::from(it.recorded_at()));
        Ok(Envelope {
            position: self.moment.position.0,
            log_end: self.moment.end.0,
            recorded_at: time.map(|time| time.to_string()),
            log_id: annals.log().log_id().to_string(),
            proof: proof::read(&self.shared, self.moment.position).await?,
            data,
        })
    }
}
