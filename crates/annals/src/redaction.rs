//! Redaction: content is found, removed for good, and what became of it is recorded.

mod error;
mod found;
mod named;
mod notes;
mod plan;
mod seals;
mod search;
mod stays;
#[cfg(test)]
mod tests;

use annals_domain::{ActorKind, ActorRef, StreamKind};
use annals_event_log::{Position, RedactError};

use crate::Contents;
use found::Stretch;
use plan::Step;
use seals::Lost;

pub use error::RedactionError;
pub use found::{Found, RedactReport, RedactRequest, SealOf, Target};
pub use named::named_removals;
pub use notes::RedactionNote;
pub use stays::Stays;

/// How often content is looked for again because more came meanwhile that refers to the same
/// blobs.
const ATTEMPTS: u32 = 8;
/// How often what came meanwhile is looked through, at most.
const ROUNDS: u32 = 8;

impl Contents<'_> {
    /// What a redaction of these targets would remove. Reads the whole log, unless
    /// only single events without blobs are requested; `progress` is called with each
    /// position that was looked at.
    ///
    /// # Errors
    /// [`RedactionError`].
    pub async fn find(
        self,
        targets: &[Target],
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<Found, RedactionError> {
        let mut plan = search::plan(self.annals, targets, Stretch::All, progress).await?;
        plan.add_seals(self.annals, &Lost::new()).await?;
        Ok(plan.found())
    }

    /// Removes content and its salts for good, and records who had it removed, when
    /// and why, in the stream of each event that loses some. No header changes: every
    /// proof and every checkpoint made before stays valid.
    ///
    /// A pattern is looked for again in what came while the log was looked through. So
    /// nothing that was in the log when the first event was recorded is left with it.
    ///
    /// The catalogue is forgotten with it and folded again when it is next read. Others
    /// append, list and look up meanwhile, and find some of the content until this answers. In
    /// the files of the embedded store the old bytes lie until
    /// [`annals_store_rocks::RocksLog::purge`] has rewritten them, or the next opening
    /// for writing has. Backups, exports and proofs that were made before are out of
    /// reach.
    ///
    /// # Errors
    /// [`RedactionError`].
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn redact(
        self,
        request: &RedactRequest,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<RedactReport, RedactionError> {
        check_reason(request)?;
        self.check_actor(&request.actor).await?;
        let is_pattern = |target: &&Target| matches!(target, Target::Pattern(_));
        let patterns: Vec<Target> = request.targets.iter().filter(is_pattern).cloned().collect();
        let mut report = RedactReport::default();
        let mut lost = Lost::new();
        let (mut targets, mut stretch) = (&request.targets, Stretch::All);
        for _ in 0..ROUNDS {
            let removed = self.remove(request, targets, stretch, &mut lost, &mut report, progress);
            let came = removed.await.map_err(|error| report.partly(error))?;
            let came = came.filter(|(from, to)| from <= to);
            report.unsearched = came.filter(|_| !patterns.is_empty());
            // Without a pattern, only seals of what lost content are looked for.
            let Some((from, to)) = came else {
                break;
            };
            (targets, stretch) = (&patterns, Stretch::Between(from, to));
        }
        if report.recorded.is_none() {
            self.annals.log.confirm().await?;
        }
        Ok(report)
    }

    /// Refuses an actor that is not a person where the log has budgets, which compare names of projects, and where the gate counts
    /// tokens: sessions share other buckets after a redaction.
    async fn check_actor(self, actor: &ActorRef) -> Result<(), RedactionError> {
        if is_a_person(actor) {
            return Ok(());
        }
        let buckets = format!("{}-", StreamKind::Bucket);
        let has_buckets = !self.annals.log.streams(&buckets, None, 1).await?.is_empty();
        if has_buckets || !self.annals.inbox().settings().await?.budgets.is_empty() {
            return Err(RedactionError::NotPermitted);
        }
        Ok(())
    }

    /// Removes what is found of the targets in a stretch of the log, in as many redactions as it
    /// takes, and adds each to the report; answers with what came while it was looked through,
    /// if something was removed. Where what came behind it refers to blobs that go, it goes on to
    /// what is the end by then.
    #[allow(clippy::await_holding_invalid_type, reason = "docs/adr/0039")]
    async fn remove(
        self,
        request: &RedactRequest,
        targets: &[Target],
        mut stretch: Stretch,
        lost: &mut Lost,
        report: &mut RedactReport,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<Option<(Position, Position)>, RedactionError> {
        let before = report.recorded.map(|(_, last)| last);
        for _ in 0..ATTEMPTS {
            let mut plan = search::plan(self.annals, targets, stretch, progress).await?;
            if let Some(position) = plan.of_a_person.filter(|_| !is_a_person(&request.actor)) {
                return Err(RedactionError::OfAPerson { position });
            }
            // From here on no seal is made of what goes.
            let _sealing = self.annals.sealing.lock().await;
            let losing = plan.losing();
            plan.add_seals(self.annals, lost).await?;
            let (found, seen) = (plan.found(), plan.seen);
            let mut came = None;
            for Step { redaction, objects } in plan.steps(request)? {
                let part = Found {
                    removed: redaction.removed.clone(),
                    blobs: redaction.blobs.clone(),
                    objects,
                    ..Found::default()
                };
                let redacted = self
                    .annals
                    .catalogue
                    .forgetting(self.annals.log.redact(redaction))
                    .await;
                // For every result: content may be gone that states have names of.
                self.annals.states.forget_all();
                match redacted {
                    Ok(appended) => {
                        report.add(part, (appended.first, appended.last));
                        let from = before.map_or(seen, |last| seen.max(last)).next();
                        came = Some((from, Position(appended.first.0.saturating_sub(1))));
                    }
                    Err(RedactError::StillNamed { .. }) => {
                        came = None;
                        break;
                    }
                    Err(error) => return Err(RedactionError::Store(error)),
                }
            }
            if came.is_some() || found.removed.is_empty() {
                report.found.add_seals(&found);
                report.found.shared.extend(found.shared);
                report.found.stays.extend(found.stays);
                report.found.stays_count += found.stays_count;
                seals::merge(lost, losing);
                return Ok(came);
            }
            stretch = stretch.up_to(self.annals.log.watermark());
        }
        Err(RedactionError::Contended { attempts: ATTEMPTS })
    }
}

fn is_a_person(actor: &ActorRef) -> bool {
    actor.kind == ActorKind::Human
}

fn check_reason(request: &RedactRequest) -> Result<(), RedactionError> {
    if request.reason.trim().is_empty() {
        return Err(RedactionError::NoReason);
    }
    let patterns = request.targets.iter().filter_map(|target| match target {
        Target::Pattern(pattern) => Some(pattern),
        Target::Event(_) | Target::Blob(_) => None,
    });
    let ActorRef { kind, id, .. } = &request.actor;
    for pattern in patterns {
        if pattern.is_match(request.reason.as_bytes()) {
            return Err(RedactionError::ReasonMatches);
        }
        let own_kind =
            !ActorKind::LISTED.contains(kind) && pattern.is_match(kind.as_str().as_bytes());
        if own_kind || pattern.is_match(id.as_bytes()) {
            return Err(RedactionError::ActorMatches);
        }
    }
    Ok(())
}
