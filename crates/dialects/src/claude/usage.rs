//! The tokens of messages. Several lines share a message, and its tokens grow
//! from one to the next: the last line counts, once.

use annals_domain::Timestamp;
use uuid::Uuid;

use super::error::ClaudeImportError;
use super::ids;
use super::importer::Importer;
use super::line::Message;
use super::map::{self, By};
use super::remark::Remark;
use super::session::OpenUsage;
use super::unit::{Load, Unit};

/// At most so many totals of a message are remembered, the newest ones.
const TOTALS: usize = 64;

impl Importer<'_> {
    /// Takes the tokens of a message's line in. Another message of the same
    /// chain ends the one before.
    pub(super) async fn count_usage(
        &mut self,
        session: &str,
        chain: &str,
        message: Message<'_>,
        at: Timestamp,
        line: u64,
    ) -> Result<(), ClaudeImportError> {
        let open = &self.session(session).chain(chain).usage;
        if open.as_ref().is_some_and(|open| open.message != message.id) {
            self.close_usage(session, chain).await?;
        }
        let Some(totals) = message.usage.map(|usage| usage.totals()) else {
            return Ok(());
        };
        let before = match self.closed.get(message.id) {
            // A copy of a part of another session has nothing new.
            Some((owner, last)) if owner != session && !is_more(&totals, last) => return Ok(()),
            Some((_, last)) => Some(*last),
            None => None,
        };
        let name = chain.to_owned();
        let chain = self.session(session).chain(chain);
        let open = chain.usage.get_or_insert_with(|| OpenUsage {
            message: message.id.to_owned(),
            model: message.model.map(str::to_owned),
            at,
            totals: Vec::from_iter(before),
            line,
        });
        (open.at, open.line) = (at, line);
        if open.totals.last() != Some(&totals) {
            open.totals.push(totals);
            if open.totals.len() > TOTALS {
                let oldest = open.totals.first().copied().unwrap_or_default();
                let key = ids::usage_batch(message.id, &oldest);
                self.forget_total(session, &name, key).await?;
            }
        }
        Ok(())
    }

    /// Drops the oldest total of a message; but one that an import has recorded
    /// is what the difference is to, so the one after it goes instead.
    async fn forget_total(
        &mut self,
        session: &str,
        chain: &str,
        oldest: Uuid,
    ) -> Result<(), ClaudeImportError> {
        let at = usize::from(self.is_known(oldest).await?);
        if let Some(open) = &mut self.session(session).chain(chain).usage
            && open.totals.len() > at
        {
            open.totals.remove(at);
        }
        Ok(())
    }

    /// Records the tokens of all messages up to here.
    pub(super) async fn end_usage(&mut self) -> Result<(), ClaudeImportError> {
        let mut open = Vec::new();
        for (name, session) in &mut self.sessions {
            let chains = session.chains().filter(|chain| chain.usage.is_some());
            open.extend(chains.map(|chain| (name.clone(), chain.name.clone())));
        }
        open.sort();
        for (session, chain) in open {
            self.close_usage(&session, &chain).await?;
        }
        Ok(())
    }

    async fn close_usage(&mut self, session: &str, name: &str) -> Result<(), ClaudeImportError> {
        let chain = self.session(session).chain(name);
        let run = chain.ids.run;
        let Some(open) = chain.usage.take() else {
            return Ok(());
        };
        let Some((last, earlier)) = open.totals.split_last() else {
            return Ok(());
        };
        let owner = session.to_owned();
        self.closed.put(open.message.clone(), (owner, *last));
        let key = ids::usage_batch(&open.message, last);
        if self.is_known(key).await? {
            return Ok(());
        }
        // What an import had counted when the recording ended here or there.
        let mut before = [0; 4];
        for totals in earlier.iter().rev() {
            if self
                .is_known(ids::usage_batch(&open.message, totals))
                .await?
            {
                before = *totals;
                break;
            }
        }
        let mut more = *last;
        for (more, before) in more.iter_mut().zip(before) {
            if *more < before {
                self.remarks
                    .add(Remark::UsageShrinks, &self.file, open.line);
            }
            *more = more.saturating_sub(before);
        }
        if more == [0; 4] {
            return Ok(());
        }
        let by = By {
            actor: map::agent(),
            at: open.at,
        };
        let usage = map::usage(run, open.model.as_deref(), more);
        let unit = Unit {
            key,
            requests: vec![by.request(usage)],
            model: open.model,
            load: Load::default(),
            line: open.line,
        };
        self.work(session, name, unit).await
    }
}

fn is_more(totals: &[u64; 4], before: &[u64; 4]) -> bool {
    totals.iter().zip(before).any(|(now, before)| now > before)
}
