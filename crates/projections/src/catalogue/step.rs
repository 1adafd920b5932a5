//! A record as the catalogue's fold takes it: decoded, with the little content
//! that rows show.

use std::borrow::Cow;
use std::collections::HashMap;

use annals_domain::{Adoption, AnyEvent, Slot, Timestamp, Touched};
use annals_domain::{alias, intent, observation, pipeline, plan, run, session, snapshot, task};
use annals_event_log::{Digest, PieceRef, Record, Store, record_at};
use annals_wire::Decoded;
use bytes::Bytes;
use rayon::prelude::*;

use super::CatalogueError;
use super::row::{LabelMap, label, title};
use crate::Text;
use crate::header::{Common, common};

/// From this many records on they are decoded on all processors.
const PARALLEL_FROM: usize = 256;

/// One record. Thousands of them are made by one thread and read by another, so what few of them
/// have lies behind a pointer.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) decoded: Decoded,
    /// The objects that it is about.
    pub(super) touched: Touched,
    /// The title that the event gives to its object, if it gives one.
    pub(super) title: Option<Text>,
    /// What else of its content is looked at, which few events have.
    given: Option<Box<Given>>,
}

/// Texts that an event gives, without those that were removed.
#[derive(Debug, Default)]
struct Given {
    /// The tags of its object.
    tags: Vec<(String, String)>,
    /// The object's ids in other systems.
    external_ids: Vec<(String, String)>,
    /// The labels of its intent.
    intent_labels: Vec<String>,
    /// The alias of an object.
    alias: Option<String>,
    /// Blobs without which its content is not whole.
    missing: Vec<Digest>,
}

impl Step {
    pub(super) fn position(&self) -> u64 {
        self.decoded.record.position().0
    }

    /// What the event gives to one of its object's maps.
    pub(super) fn labels(&self, map: LabelMap) -> &[(String, String)] {
        let given = self.given.as_ref().map(|given| match map {
            LabelMap::Tags => given.tags.as_slice(),
            LabelMap::ExternalIds => given.external_ids.as_slice(),
        });
        given.unwrap_or_default()
    }

    /// The labels that the event gives to its intent.
    pub(super) fn intent_labels(&self) -> &[String] {
        let given = self.given.as_ref();
        given.map_or(&[][..], |given| &given.intent_labels)
    }

    /// The alias that the event gives to an object, unless it was removed.
    pub(super) fn alias(&self) -> Option<&str> {
        self.given.as_ref()?.alias.as_deref()
    }

    /// Blobs without which its content is not whole.
    fn missing(&self) -> &[Digest] {
        let given = self.given.as_ref();
        given.map_or(&[][..], |given| &given.missing)
    }

    pub(super) fn occurred_at(&self) -> Timestamp {
        self.decoded.record.occurred_at().into()
    }
}

/// Records as steps. Large content is fetched only where a title is in it.
///
/// # Errors
/// [`CatalogueError::Decode`], [`CatalogueError::MissingBlob`], and what the
/// log cannot read.
pub(super) async fn steps(
    log: &dyn Store,
    records: Vec<Record>,
) -> Result<Vec<Step>, CatalogueError> {
    let mut steps = decode(records)?;
    complete(log, &mut steps).await?;
    Ok(steps)
}

/// As [`decode`], on this thread alone: for those who have several pages decoded at once.
///
/// # Errors
/// [`CatalogueError::Decode`].
pub(super) fn decode_in_turn(records: Vec<Record>) -> Result<Vec<Step>, CatalogueError> {
    let none = HashMap::new();
    // An event makes a step large: each is made once, where it stays.
    let mut steps = Vec::with_capacity(records.len());
    for record in records {
        steps.push(step(record, &none)?);
    }
    Ok(steps)
}

/// Records as steps, without content that is not in them.
///
/// # Errors
/// [`CatalogueError::Decode`].
pub(super) fn decode(records: Vec<Record>) -> Result<Vec<Step>, CatalogueError> {
    if records.len() < PARALLEL_FROM {
        return decode_in_turn(records);
    }
    let none = HashMap::new();
    let records = records.into_par_iter();
    let made: Vec<Result<Step, CatalogueError>> =
        records.map(|record| step(record, &none)).collect();
    // A step is large, so they stay where they are.
    made.into_iter().collect()
}

/// Fetches the content that steps lack.
///
/// # Errors
/// [`CatalogueError::MissingBlob`], and what the log cannot read.
pub(super) async fn complete(log: &dyn Store, steps: &mut [Step]) -> Result<(), CatalogueError> {
    for made in steps.iter_mut().filter(|made| !made.missing().is_empty()) {
        let record = made.decoded.record.clone();
        *made = match fetch(log, &record, made.missing()).await {
            Ok(blobs) => step(record, &blobs)?,
            Err(error @ CatalogueError::MissingBlob { .. }) => {
                // Content may have been removed since the record was read.
                let again = record_at(log, record.position()).await?;
                let again = again.filter(|again| *again != record).ok_or(error)?;
                let made = step(again.clone(), &HashMap::new())?;
                let blobs = fetch(log, &again, made.missing()).await?;
                step(again, &blobs)?
            }
            Err(error) => return Err(error),
        };
    }
    Ok(())
}

async fn fetch(
    log: &dyn Store,
    record: &Record,
    digests: &[Digest],
) -> Result<HashMap<Digest, Bytes>, CatalogueError> {
    let mut blobs = HashMap::new();
    for digest in digests {
        let blob = log.blob(*digest).await?;
        let blob = blob.ok_or(CatalogueError::MissingBlob {
            position: record.position(),
            digest: *digest,
        })?;
        blobs.insert(*digest, blob);
    }
    Ok(blobs)
}

/// A record as a step, with the content that is in it or in `blobs`.
fn step(record: Record, blobs: &HashMap<Digest, Bytes>) -> Result<Step, CatalogueError> {
    let (stream, event) =
        annals_wire::decode_event_of(&record).map_err(|source| CatalogueError::Decode {
            position: record.position(),
            source,
        })?;
    let mut texts = Texts {
        record: &record,
        blobs,
        missing: Vec::new(),
    };
    let title = title_slot(&event).map(|slot| texts.title(slot));
    let given = texts.given(&event);
    Ok(Step {
        touched: event.touches(stream.id),
        title,
        given,
        decoded: Decoded {
            stream,
            event,
            record,
        },
    })
}

/// Content of one record, where it is at hand.
struct Texts<'a> {
    record: &'a Record,
    blobs: &'a HashMap<Digest, Bytes>,
    missing: Vec<Digest>,
}

impl<'a> Texts<'a> {
    fn title(&mut self, slot: Slot) -> Text {
        let piece = self.record.pieces().nth(usize::from(slot.0));
        self.text(piece)
            .map_or(Text::Removed, |text| Text::Present(title(&text)))
    }

    /// What an event gives in addition to a title, if anything.
    fn given(&mut self, event: &AnyEvent) -> Option<Box<Given>> {
        let (tags, external_ids) = label_slots(event);
        let (labels, alias) = (intent_label_slots(event), alias_slot(event));
        let is_bare = tags.is_empty() && external_ids.is_empty() && labels.is_empty();
        if is_bare && alias.is_none() && self.missing.is_empty() {
            return None;
        }
        let pieces: Vec<PieceRef<'a>> = self.record.pieces().collect();
        let piece = |slot: Slot| pieces.get(usize::from(slot.0)).copied();
        let mut given = Given {
            tags: self.labels(tags, piece),
            external_ids: self.labels(external_ids, piece),
            ..Given::default()
        };
        let labels = labels.iter().filter_map(|slot| self.text(piece(*slot)));
        given.intent_labels = labels.map(|text| label(&text).to_owned()).collect();
        given.alias = alias.and_then(|slot| Some(self.text(piece(slot))?.into_owned()));
        given.missing = std::mem::take(&mut self.missing);
        Some(Box::new(given))
    }

    /// Names and values; those that were removed are left out.
    fn labels(
        &mut self,
        slots: Pairs<'_>,
        piece: impl Fn(Slot) -> Option<PieceRef<'a>>,
    ) -> Vec<(String, String)> {
        let mut labels = Vec::new();
        for (name, value) in slots {
            let (name, value) = (self.text(piece(*name)), self.text(piece(*value)));
            if let (Some(name), Some(value)) = (name, value) {
                labels.push((label(&name).to_owned(), label(&value).to_owned()));
            }
        }
        labels
    }

    /// The text of a piece, unless it was removed.
    fn text(&mut self, piece: Option<PieceRef<'a>>) -> Option<Cow<'a, str>> {
        match piece? {
            PieceRef::Inline(bytes) => Some(String::from_utf8_lossy(bytes)),
            PieceRef::Blob(digest) => match self.blobs.get(&digest) {
                Some(bytes) => Some(String::from_utf8_lossy(bytes)),
                None => {
                    self.missing.push(digest);
                    None
                }
            },
            PieceRef::Attachment(_) | PieceRef::Removed => None,
        }
    }
}

/// The content that becomes the title of the event's principal object.
fn title_slot(event: &AnyEvent) -> Option<Slot> {
    match event {
        AnyEvent::Intent(event) => intent_title(event),
        AnyEvent::Plan(event) => plan_title(event),
        AnyEvent::Task(event) => task_title(event),
        AnyEvent::Run(event) => run_title(event),
        AnyEvent::Snapshot(event) => snapshot_title(event),
        AnyEvent::Pipeline(event) => pipeline_title(event),
        AnyEvent::Alias(_) | AnyEvent::Bucket(_) | AnyEvent::Settings(_) => None,
        AnyEvent::Session(event) => session_title(event),
        AnyEvent::Observation(event) => observation_title(event),
    }
}

fn alias_slot(event: &AnyEvent) -> Option<Slot> {
    match event {
        AnyEvent::Alias(alias::Event::Reserved(event)) => Some(event.alias),
        AnyEvent::Alias(alias::Event::Redacted(_))
        | AnyEvent::Intent(_)
        | AnyEvent::Plan(_)
        | AnyEvent::Task(_)
        | AnyEvent::Run(_)
        | AnyEvent::Snapshot(_)
        | AnyEvent::Pipeline(_)
        | AnyEvent::Session(_)
        | AnyEvent::Bucket(_)
        | AnyEvent::Settings(_)
        | AnyEvent::Observation(_) => None,
    }
}

fn observation_title(event: &observation::Event) -> Option<Slot> {
    use observation::Event;
    match event {
        Event::Recorded(event) => Some(event.text),
        Event::Processed(_) | Event::MetadataSet(_) | Event::Redacted(_) => None,
    }
}

fn intent_title(event: &intent::Event) -> Option<Slot> {
    use intent::Event;
    match event {
        Event::Submitted(event) => Some(event.prompt),
        Event::Adopted(event) => Some(event.prompt),
        Event::TakenIn(_)
        | Event::Classified(_)
        | Event::Approved(_)
        | Event::Rejected(_)
        | Event::Instructed(_)
        | Event::ExecutionStarted(_)
        | Event::ClarificationRequested(_)
        | Event::ClarificationAnswered(_)
        | Event::Decomposed(_)
        | Event::TaskAdded(_)
        | Event::RerunRequested(_)
        | Event::Analyzed(_)
        | Event::Activated(_)
        | Event::PlanSelected(_)
        | Event::CommitRecorded(_)
        | Event::Completed(_)
        | Event::Cancelled(_)
        | Event::MetadataSet(_)
        | Event::Redacted(_)
        | Event::Sealed(_) => None,
    }
}

/// A plan is called by its first step.
fn plan_title(event: &plan::Event) -> Option<Slot> {
    use plan::Event;
    match event {
        Event::Drafted(event) => event.steps.first().map(|step| step.description),
        Event::StepAdded(event) => (event.index == 0).then_some(event.step.description),
        Event::Adopted(event) => event.steps.first().map(|step| step.step.description),
        Event::StepStatusChanged(_)
        | Event::StepFramesLinked(_)
        | Event::StepTaskSpawned(_)
        | Event::StepOutputRecorded(_)
        | Event::Revised(_)
        | Event::Assigned(_)
        | Event::Restored(_)
        | Event::MetadataSet(_)
        | Event::Redacted(_)
        | Event::Sealed(_) => None,
    }
}

fn task_title(event: &task::Event) -> Option<Slot> {
    use task::Event;
    match event {
        Event::Created(event) => Some(event.title),
        Event::Adopted(event) => event.object.as_ref().map(|task| task.title),
        Event::Planned(_)
        | Event::ReviewRecorded(_)
        | Event::Superseded(_)
        | Event::ConstraintAdded(_)
        | Event::CriterionAdded(_)
        | Event::DependencyAdded(_)
        | Event::RunAdded(_)
        | Event::Started(_)
        | Event::Done(_)
        | Event::Failed(_)
        | Event::Cancelled(_)
        | Event::MetadataSet(_)
        | Event::Redacted(_)
        | Event::Sealed(_) => None,
    }
}

fn run_title(event: &run::Event) -> Option<Slot> {
    use run::Event;
    match event {
        Event::ToolInvoked(event) => Some(event.tool_name),
        Event::ToolRequested(event) => Some(event.tool_name),
        Event::ToolDecided(event) => event.tool_name,
        Event::ToolBegun(event) => event.tool_name,
        Event::ToolEnded(event) => event.tool_name,
        Event::PatchSetProposed(event) => event.rationale,
        Event::RationaleOverridden(event) => event.rationale,
        Event::EvidenceRecorded(event) => Some(event.tool),
        Event::ProvenanceRecorded(event) => Some(event.model),
        Event::DecisionMade(event) => event.rationale,
        Event::Failed(event) => Some(event.error),
        Event::Adopted(event) => event.object.as_ref()?.error,
        Event::PatchSetAdopted(event) => event.object.as_ref()?.rationale,
        Event::EvidenceAdopted(event) => Some(event.evidence.tool),
        Event::DecisionAdopted(event) => event.decision.rationale,
        Event::ProvenanceAdopted(event) => Some(event.model),
        Event::ToolInvocationAdopted(event) => Some(event.invocation.tool_name),
        Event::Created(_)
        | Event::SnapshotAttached(_)
        | Event::PatchingStarted(_)
        | Event::ValidationStarted(_)
        | Event::PatchSetApplied(_)
        | Event::PatchSetRejected(_)
        | Event::PatchSetReverted(_)
        | Event::UsageRecorded(_)
        | Event::MetricsRecorded(_)
        | Event::ResultCommitRecorded(_)
        | Event::EndedAfterIntent(_)
        | Event::MetadataSet(_)
        | Event::Redacted(_)
        | Event::Sealed(_) => None,
    }
}

fn snapshot_title(event: &snapshot::Event) -> Option<Slot> {
    use snapshot::Event;
    match event {
        Event::Opened(event) => event.summary,
        Event::Finalized(event) => event.summary,
        Event::Adopted(event) => event.object.as_ref()?.summary,
        Event::ItemAdded(_)
        | Event::BlobAttached(_)
        | Event::MetadataSet(_)
        | Event::Redacted(_)
        | Event::Sealed(_) => None,
    }
}

fn pipeline_title(event: &pipeline::Event) -> Option<Slot> {
    use pipeline::Event;
    match event {
        Event::GlobalSummarySet(event) => event.summary,
        Event::Adopted(event) => event.object.as_ref()?.global_summary,
        Event::Created(_)
        | Event::FramePushed(_)
        | Event::FramesUsed(_)
        | Event::FramesDropped(_)
        | Event::MaxFramesSet(_)
        | Event::EvictionPolicySet(_)
        | Event::MetadataSet(_)
        | Event::Redacted(_)
        | Event::Sealed(_) => None,
    }
}

/// A session is called by its agent.
fn session_title(event: &session::Event) -> Option<Slot> {
    use session::Event;
    match event {
        Event::Created(event) => Some(event.config.agent_profile),
        Event::Adopted(event) => event.config.as_ref().map(|config| config.agent_profile),
        Event::Paused(_)
        | Event::Resumed(_)
        | Event::ApprovalRequired(_)
        | Event::Approved(_)
        | Event::ApprovalDenied(_)
        | Event::ApprovalExpired(_)
        | Event::Aborted(_)
        | Event::Completed(_)
        | Event::CommandReceived(_)
        | Event::CommandQueued(_)
        | Event::CommandAccepted(_)
        | Event::CommandRejected(_)
        | Event::Throttled(_)
        | Event::CommandCompleted(_)
        | Event::ConflictDetected(_)
        | Event::ArtifactAvailable(_)
        | Event::PlanUpdated(_)
        | Event::PlanNodeLinked(_)
        | Event::BacklogQueried(_)
        | Event::WorkItemQueried(_)
        | Event::RunAttached(_)
        | Event::StatusRecorded(_)
        | Event::ForeignRecorded(_)
        | Event::MetadataSet(_)
        | Event::Redacted(_) => None,
    }
}

fn intent_label_slots(event: &AnyEvent) -> &[Slot] {
    match event {
        AnyEvent::Intent(intent::Event::TakenIn(event)) => &event.labels,
        _ => &[],
    }
}

/// Names and values.
type Pairs<'a> = &'a [(Slot, Slot)];

/// The tags and the external ids that an event gives to its object.
fn label_slots(event: &AnyEvent) -> (Pairs<'_>, Pairs<'_>) {
    if let Some(Adoption::Begun(header)) = event.adoption() {
        return (&header.tags, &header.external_ids);
    }
    match common(event) {
        Some(Common::MetadataSet(event)) => (
            event.tags.as_deref().unwrap_or_default(),
            event.external_ids.as_deref().unwrap_or_default(),
        ),
        Some(Common::Sealed(_)) | None => (&[], &[]),
    }
}
