//! What changed of all objects between two moments: the log between them says which those are.

use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;

use annals_domain::{Kind, StreamRef};
use annals_event_log::{Position, Query};
use annals_wire::stream_name;
use uuid::Uuid;

use super::about::Objects;
use super::{ObjectDiff, Past, PastError};
use crate::{At, LoadError, ObjectRef};

/// Objects of a stream that are looked at together: so many are held at a time.
const TOGETHER: usize = 1_000;

impl Past<'_> {
    /// What changed of each object that was touched between two moments, stream by stream in the order in which they
    /// were touched first, until `each` has enough. What is held is the streams' ids, and of one stream the objects
    /// that were touched, at most a thousand at a time; streams are read as far as the second moment.
    ///
    /// # Errors
    /// As [`Past::diff`], and [`PastError::ByCallersClocks`].
    pub async fn diff_all(
        self,
        from: At,
        to: At,
        mut each: impl FnMut(ObjectDiff) -> ControlFlow<()>,
    ) -> Result<(), PastError> {
        self.in_order(from, to).await?;
        let positions = (self.position_of(from).await?, self.position_of(to).await?);
        let (Some(from), Some(to)) = positions else {
            return Err(PastError::ByCallersClocks);
        };
        let mut seen: HashSet<StreamRef> = HashSet::new();
        let mut next = Some(from.next().0);
        while let Some(first) = next {
            let page = self.annals.log.read(Query::all(Position(first))).await;
            let page = page.map_err(LoadError::from)?;
            for record in &page.records {
                if record.position() > to {
                    return Ok(());
                }
                let decoded = annals_wire::decode(record).map_err(LoadError::from)?;
                if seen.insert(decoded.stream)
                    && self
                        .diff_stream(decoded.stream, (record.version().0, from, to), &mut each)
                        .await?
                        .is_break()
                {
                    return Ok(());
                }
            }
            next = page.next;
        }
        Ok(())
    }

    /// The objects of one stream, which was touched first at a version.
    async fn diff_stream(
        self,
        stream: StreamRef,
        (version, from, to): (u64, Position, Position),
        each: &mut impl FnMut(ObjectDiff) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, PastError> {
        let mut touched: BTreeSet<(Kind, Uuid)> = BTreeSet::new();
        let mut next = Some(version);
        'stream: while let Some(first) = next {
            let query = Query::stream(stream_name(stream), annals_event_log::Version(first));
            let page = self.annals.log.read(query).await.map_err(LoadError::from)?;
            for record in &page.records {
                if record.position() > to {
                    break 'stream;
                }
                let decoded = annals_wire::decode(record).map_err(LoadError::from)?;
                touched.extend(decoded.event.touches(stream.id));
                if usage(&decoded.event) {
                    touched.extend(self.provenance_of(stream.id).await?);
                }
            }
            next = page.next;
        }
        let touched: Vec<ObjectRef> = touched
            .into_iter()
            .map(|(kind, id)| ObjectRef { kind, id })
            .collect();
        let (from, to) = (At::Position(from), At::Position(to));
        for some in touched.chunks(TOGETHER) {
            let objects = Objects::new(stream, some.to_vec());
            let diffs = self.diff_objects(&objects, from, to).await?;
            for diff in diffs
                .into_iter()
                .flatten()
                .filter(|it| !it.changes.is_empty())
            {
                if each(diff).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The provenance that a run's tokens count to.
    async fn provenance_of(self, run: Uuid) -> Result<Option<(Kind, Uuid)>, LoadError> {
        use annals_projections::Relation::ProvenanceRun;
        let found = self.annals.index().naming(run, ProvenanceRun, 1).await?;
        Ok(found.first().map(|id| (Kind::Provenance, *id)))
    }
}

/// Whether an event adds to an object that it does not name.
fn usage(event: &annals_domain::AnyEvent) -> bool {
    use annals_domain::run::Event;
    matches!(event, annals_domain::AnyEvent::Run(Event::UsageRecorded(_)))
}
