//! One object: read from its JSON, and as the events that adopt it.

use std::cell::RefCell;

use annals_domain::{Emitted, IntegrityHash, Kind, Pieces, StreamKind, StreamRef};
use annals_projections::adopted_view;
use uuid::Uuid;

use super::context::{Pipeline, Snapshot};
use super::fields::{FieldError, Fields, Read};
use super::header::{Header, StoreHeader};
use super::parts::Longest;
use super::run::{Decision, Evidence, PatchSet, Provenance, Run, ToolInvocation};
use super::workflow::{Intent, Plan, Task};
use crate::nesting::depth;
use crate::report;

/// git-internal reads no JSON that is nested deeper.
const MAX_DEPTH: usize = 127;

/// What an object has beyond its header.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Body {
    Intent(Intent),
    Plan(Plan),
    Task(Task),
    Run(Run),
    PatchSet(PatchSet),
    Evidence(Evidence),
    Decision(Decision),
    Provenance(Provenance),
    ToolInvocation(ToolInvocation),
    Snapshot(Snapshot),
    Pipeline(Pipeline),
}

/// An object of git-internal.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Object {
    pub(super) header: Header,
    pub(super) body: Body,
}

impl Object {
    /// Reads an object from its JSON.
    pub(super) fn read(text: &str, tally: &RefCell<report::Fields>) -> Read<Object> {
        let deep = depth(text);
        if deep > MAX_DEPTH {
            return Err(FieldError {
                place: "the object".to_owned(),
                reason: format!("it is nested {deep} deep, and the most is {MAX_DEPTH}"),
            });
        }
        let mut fields = Fields::of(text, tally)?;
        let header = Header::read(&mut fields)?;
        let fields_of = &mut fields;
        let body = match header.kind {
            Kind::Intent => Body::Intent(Intent::read(fields_of)?),
            Kind::Plan => Body::Plan(Plan::read(fields_of)?),
            Kind::Task => Body::Task(Task::read(fields_of)?),
            Kind::Run => Body::Run(Run::read(fields_of)?),
            Kind::PatchSet => Body::PatchSet(PatchSet::read(fields_of)?),
            Kind::Evidence => Body::Evidence(Evidence::read(fields_of)?),
            Kind::Decision => Body::Decision(Decision::read(fields_of)?),
            Kind::Provenance => Body::Provenance(Provenance::read(fields_of)?),
            Kind::ToolInvocation => Body::ToolInvocation(ToolInvocation::read(fields_of)?),
            Kind::ContextSnapshot => Body::Snapshot(Snapshot::read(fields_of)?),
            Kind::ContextPipeline => Body::Pipeline(Pipeline::read(fields_of)?),
            // The header's reader has refused it.
            Kind::Session | Kind::Observation => {
                let reason = "it is not an object of git-internal";
                return Err(fields.wrong("object_type", reason));
            }
        };
        fields.end();
        Ok(Object { header, body })
    }

    /// The run that the object belongs to, if it is of one.
    pub(super) fn run(&self) -> Option<Uuid> {
        match &self.body {
            Body::PatchSet(of) => Some(of.run),
            Body::Evidence(of) => Some(of.run),
            Body::Decision(of) => Some(of.run),
            Body::Provenance(of) => Some(of.run),
            Body::ToolInvocation(of) => Some(of.run),
            Body::Run(_) => Some(self.header.id),
            Body::Intent(_)
            | Body::Plan(_)
            | Body::Task(_)
            | Body::Snapshot(_)
            | Body::Pipeline(_) => None,
        }
    }

    /// The longest of its lists that no event can continue.
    pub(super) fn longest_list(&self) -> Longest {
        let mut longest = Longest::default();
        self.header.lists(&mut longest);
        match &self.body {
            Body::Intent(of) => of.lists(&mut longest),
            Body::Plan(of) => of.lists(&mut longest),
            Body::Run(of) => of.lists(&mut longest),
            Body::Evidence(of) => of.lists(&mut longest),
            Body::ToolInvocation(of) => of.lists(&mut longest),
            Body::Task(_)
            | Body::PatchSet(_)
            | Body::Decision(_)
            | Body::Provenance(_)
            | Body::Snapshot(_)
            | Body::Pipeline(_) => {}
        }
        longest
    }

    /// The stream that holds the object.
    fn stream(&self) -> StreamRef {
        let kind = self.header.kind.stream_kind();
        let id = match kind {
            StreamKind::Run => self.run().unwrap_or(self.header.id),
            _ => self.header.id,
        };
        StreamRef { kind, id }
    }

    /// The events that adopt it, and the digest of its JSON, which is in them.
    pub(super) fn adoption(&self, violations: &[String]) -> (Vec<Emitted>, IntegrityHash) {
        // The digest is of the view's JSON, which contains neither the digest nor
        // what is wrong with the object.
        let unknown = IntegrityHash([0; 32]);
        let json = adopted_view(&self.events(unknown, &[])).map(|view| view.to_json());
        let digest = match json {
            Some(Ok(json)) => IntegrityHash::of(json.as_bytes()),
            Some(Err(_)) | None => unknown,
        };
        (self.events(digest, violations), digest)
    }

    fn events(&self, digest: IntegrityHash, violations: &[String]) -> Vec<Emitted> {
        let header = |pieces: &mut Pieces| self.header.store(digest, violations, pieces);
        let (id, header) = (self.header.id, &header as StoreHeader<'_>);
        let parts = match &self.body {
            Body::Intent(of) => of.parts(header),
            Body::Plan(of) => of.parts(header),
            Body::Task(of) => of.parts(header),
            Body::Run(of) => of.parts(header),
            Body::PatchSet(of) => of.parts(id, header),
            Body::Evidence(of) => of.parts(id, header),
            Body::Decision(of) => of.parts(id, header),
            Body::Provenance(of) => of.parts(id, header),
            Body::ToolInvocation(of) => of.parts(id, header),
            Body::Snapshot(of) => of.parts(header),
            Body::Pipeline(of) => of.parts(header),
        };
        let stream = self.stream();
        let emitted = |(event, pieces)| Emitted {
            stream,
            event,
            pieces,
        };
        parts.into_iter().map(emitted).collect()
    }
}
