//! Examples of the events of a log's settings.

use annals_domain::settings::{self, Set, Setting};
use annals_domain::{AnyEvent, Emitted};

use super::values::emitted;

pub(super) fn samples() -> Vec<Emitted> {
    vec![emitted(|_| {
        let event = Set {
            setting: Setting::AutonomyThreshold,
            value: 2,
        };
        AnyEvent::Settings(settings::Event::from(event))
    })]
}
