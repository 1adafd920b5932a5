//! What happens to an observation. The intent that it led to names it.

use annals_domain::Kind;
use annals_domain::observation::{Event, Recorded};

use super::Fold;
use super::create::Beginning;
use crate::catalogue::status::Status;

impl Fold<'_> {
    pub(super) fn observation(&mut self, event: &Event) {
        match event {
            Event::Recorded(event) => self.observed(event),
            Event::Processed(_) => {
                self.set_status(Kind::Observation, self.own(), Status::Processed);
            }
            Event::MetadataSet(_) | Event::Redacted(_) => {}
        }
    }

    fn observed(&mut self, event: &Recorded) {
        let beginning = Beginning {
            status: Some(Status::Open),
            sort: Some(event.kind.to_string()),
            ..Beginning::default()
        };
        self.create(Kind::Observation, self.own(), beginning);
    }
}
