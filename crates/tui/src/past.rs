//! A past position at which a screen shows the log, and the texts that name one.

use annals::domain::Timestamp;
use annals::event_log::{Position, now};
use annals::projections::CostZone;
use annals::{Annals, AtName, LoadError};

use crate::error::ScreenError;
use crate::text::{grouped, when};

/// A position before the log's end: the log as it was after its event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PastPosition {
    pub(crate) position: Position,
    /// When the log took the event; `None` before the first one.
    pub(crate) time: Option<Timestamp>,
}

impl PastPosition {
    /// Reads the time of a position. `None` at the log's end, which is the present.
    pub(crate) async fn at(
        annals: &Annals,
        position: Position,
    ) -> Result<Option<PastPosition>, ScreenError> {
        if position >= annals.position() {
            return Ok(None);
        }
        let record = annals.contents().record(position).await;
        let record = record.map_err(LoadError::from)?;
        let record = record.filter(|record| record.position() == position);
        let time = record.map(|record| record.recorded_at().into());
        Ok(Some(PastPosition { position, time }))
    }

    /// Reads a position or a time as people write it, in this machine's time zone. `None` is the present.
    pub(crate) async fn named(
        annals: &Annals,
        text: &str,
    ) -> Result<Option<PastPosition>, ScreenError> {
        let time = Timestamp::from(now());
        let name = AtName::of_name(text, |name| name.moment(CostZone::Local, time));
        let name = name.map_err(|source| ScreenError::Time {
            text: text.chars().take(64).collect(),
            source,
        })?;
        let at = annals.past().at(&name).await?;
        if let annals::At::Position(position) = at
            && position > annals.position()
        {
            let end = annals.position();
            return Err(ScreenError::BeyondEnd { position, end });
        }
        match annals.past().position_of(at).await? {
            Some(position) => PastPosition::at(annals, position).await,
            None => Err(ScreenError::Occurred),
        }
    }

    /// The line at the top of a screen of the past.
    pub(crate) fn line(self) -> String {
        let position = grouped(self.position.0);
        match self.time {
            Some(time) => format!("as of event {position}, {}", when(time)),
            None => format!("as of event {position}"),
        }
    }
}
