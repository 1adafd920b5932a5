//! Where an object came from: whether commands of this log made it, or an import took it over as it was.
//! What comes from elsewhere is written only into streams that came from there.

use annals_domain::session::Event as SessionEvent;
use annals_domain::{Adoption, AnyEvent, Dialect, StreamRef};
use annals_event_log::{Query, Version};
use annals_wire::stream_name;

use crate::{Imports, LoadError};

/// Where what happens in a stream came from, by the stream's first event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CameFrom {
    /// The stream has no events.
    Absent,
    /// Commands made it; those of recordings and repositories too.
    Commands,
    /// It was taken over from objects of this format.
    Adopted(Dialect),
}

impl Imports<'_> {
    /// Where what happens in a stream came from. It costs the same however much is in the stream.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn came_from(self, stream: StreamRef) -> Result<CameFrom, LoadError> {
        let query = Query::stream(stream_name(stream), Version(1)).limit(1);
        let page = self.annals.log.read(query).await?;
        let Some(first) = page.records.first() else {
            return Ok(CameFrom::Absent);
        };
        Ok(match annals_wire::decode(first)?.event {
            AnyEvent::Session(SessionEvent::Adopted(event)) => CameFrom::Adopted(event.dialect),
            event => match event.adoption() {
                Some(Adoption::Begun(header)) => CameFrom::Adopted(header.dialect),
                Some(Adoption::Continued) | None => CameFrom::Commands,
            },
        })
    }

    /// Whether objects of a format may be written into a stream: it has nothing yet, or it came from
    /// there and nothing but that happened in it.
    pub(crate) async fn is_open_to(
        self,
        stream: StreamRef,
        dialect: Dialect,
    ) -> Result<bool, LoadError> {
        match self.came_from(stream).await? {
            CameFrom::Absent => return Ok(true),
            CameFrom::Adopted(from) if from == dialect => {}
            CameFrom::Adopted(_) | CameFrom::Commands => return Ok(false),
        }
        let name = stream_name(stream);
        let head = self.annals.log.head(&name).await?;
        let page = self
            .annals
            .log
            .read(Query::stream(name, head).limit(1))
            .await?;
        let Some(last) = page.records.first() else {
            return Ok(true);
        };
        Ok(annals_wire::decode(last)?.event.adoption().is_some())
    }
}
