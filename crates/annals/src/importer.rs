//! Handles for imports: who imports is recorded with every event, and what only a person may do is refused.

use std::sync::Arc;

use annals_domain::{ActorKind, ActorRef, AnyEvent, Refusal, check_import};

use crate::{Annals, ExecuteError};

impl Annals {
    /// Returns a handle of the same log for an import by this actor.
    ///
    /// Whatever is appended by it names the importer: the actors of its events are those of the source, and their
    /// `auth_context` is `imported by KIND:ID`. Where the importer is not a person, events that only a person may cause
    /// are refused. Importers take such a handle in the place of a log.
    ///
    /// ```
    /// # futures::executor::block_on(async {
    /// use annals::Annals;
    /// use annals::domain::ActorRef;
    ///
    /// let annals = Annals::open("memory:").await?;
    /// let import = annals.imported_by(&ActorRef::human("ada"));
    /// let intent = import.by(&ActorRef::agent("coder")).submit("Fix a typo").await?;
    ///
    /// let history = annals.history(intent.0).await?;
    /// assert_eq!(history[0].actor.id, "coder");
    /// assert_eq!(history[0].actor.auth_context.as_deref(), Some("imported by human:ada"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn imported_by(&self, importer: &ActorRef) -> Annals {
        let mut handle = self.clone();
        handle.importer = Some(Arc::new(importer.clone()));
        handle
    }

    /// Returns who imports by this handle; `None` if it is not one for an import.
    pub fn importer(&self) -> Option<&ActorRef> {
        self.importer.as_deref()
    }

    /// Returns `true` if this handle's importer is not a person.
    pub fn is_imported_by_another(&self) -> bool {
        self.importer()
            .is_some_and(|importer| importer.kind != ActorKind::Human)
    }

    /// The actor of an event as it is recorded.
    pub(crate) fn recorded_actor(&self, actor: &ActorRef) -> ActorRef {
        match self.importer() {
            Some(importer) => actor.clone().imported_by(importer),
            None => actor.clone(),
        }
    }

    /// The actor of a command's events as it is recorded: an importer's own commands need no further name.
    pub(crate) fn commanding_actor(&self, actor: &ActorRef) -> ActorRef {
        let is_own = |it: &ActorRef| it.kind == actor.kind && it.id == actor.id;
        match self.importer().is_some_and(is_own) {
            true => actor.clone(),
            false => self.recorded_actor(actor),
        }
    }

    /// Refuses an event that this handle's importer may not bring.
    pub(crate) fn check_importer(&self, event: &AnyEvent) -> Result<(), Refusal> {
        match self.importer() {
            Some(importer) => check_import(event, importer),
            None => Ok(()),
        }
    }
}

impl ExecuteError {
    /// An import is refused.
    pub(crate) fn import(refusal: Refusal) -> ExecuteError {
        ExecuteError::Refused {
            index: 0,
            command: "import",
            refusal,
        }
    }
}
