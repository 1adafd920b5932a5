//! The tokens of messages. Several lines share a message, and its tokens grow
//! from one to the next: the last line counts, once.

use uuid::Uuid;

use super::batch::{ImportBatch, Load};
use super::commands::{self, By};
use super::importer::Importer;
use super::place::Spoken;
use super::remark::Remark;
use super::session::{Closed, OpenUsage, Total};
use crate::import::error::ImportError;
use crate::report::Fields;

/// At most so many totals of a message are remembered, the newest ones.
const TOTALS: usize = 64;

impl Importer<'_> {
    /// Takes the tokens of a message's line in. Another message of the same
    /// chain ends the one before.
    pub(super) async fn count_usage(&mut self, spoken: &mut Spoken<'_>) -> Result<(), ImportError> {
        let entry = spoken.entry;
        let (session, chain) = (spoken.session.as_str(), spoken.chain.as_str());
        let paths = &self.agent.token_paths;
        let message = entry.message();
        let open = &self.session(session).chain(chain).usage;
        if open.as_ref().is_some_and(|open| open.message != message) {
            self.close_usage(session, chain).await?;
        }
        let Some(usage) = entry.usage else {
            return Ok(());
        };
        let tokens = usage.totals;
        let before = match self.closed.get(message) {
            // A copy of a part of another session has nothing new.
            Some(closed) if closed.owner != session && !is_more(&tokens, &closed.tokens) => {
                keep_tokens(paths, usage.fields, &mut spoken.load.fields);
                return Ok(());
            }
            Some(closed) => Some(closed.tokens),
            None => None,
        };
        let name = chain.to_owned();
        let chain = self.session(session).chain(chain);
        if chain.usage.is_none() && before.is_none() && tokens == [0; 4] {
            // There is nothing to record, and the line says nothing else.
            keep_tokens(paths, usage.fields, &mut spoken.load.fields);
            return Ok(());
        }
        let (at, line) = (spoken.at, spoken.line);
        let open = chain.usage.get_or_insert_with(|| OpenUsage {
            message: message.to_owned(),
            model: entry.model.clone(),
            at,
            totals: Vec::from_iter(before.map(total)),
            line,
        });
        (open.at, open.line) = (at, line);
        if open.totals.last().map(|last| last.tokens) != Some(tokens) {
            open.totals.push(total(tokens));
        }
        if let Some(last) = open.totals.last_mut() {
            last.add_line(usage.fields);
        }
        if open.totals.len() > TOTALS {
            let oldest = open.totals.first().copied().unwrap_or_default();
            let key = self.ids.usage_batch(message, &oldest.tokens);
            self.forget_total(session, &name, key).await?;
        }
        Ok(())
    }

    /// Lets a chain begin with a message's tokens, if nothing else of its line did. They are recorded when
    /// another message or the file ends; where they begin something must not depend on that.
    pub(super) async fn open_with_tokens(
        &mut self,
        session: &str,
        name: &str,
        message: &str,
    ) -> Result<(), ImportError> {
        let ids = self.ids;
        let chain = self.session(session).chain(name);
        if chain.is_ready && chain.has_provenance {
            return Ok(());
        }
        let open = chain.usage.as_ref().filter(|open| open.message == message);
        let Some((open, last)) = open.and_then(|open| Some((open, open.totals.last()?))) else {
            return Ok(());
        };
        let key = ids.usage_batch(message, &last.tokens);
        let (model, at, line) = (open.model.clone(), open.at, open.line);
        if let Some(batch) = self.known(key).await? {
            return self.has_work(session, name, batch).await;
        }
        self.open(session, name, model.as_deref(), at, line).await?;
        self.release(session, name).await
    }

    /// Drops the oldest total of a message; but one that an import has recorded
    /// is what the difference is to, so the one after it goes instead.
    async fn forget_total(
        &mut self,
        session: &str,
        chain: &str,
        oldest: Uuid,
    ) -> Result<(), ImportError> {
        let at = usize::from(self.is_known(oldest).await?);
        if let Some(open) = &mut self.session(session).chain(chain).usage
            && open.totals.len() > at
        {
            let forgotten = open.totals.remove(at);
            // Its lines are recorded with the next total.
            if let Some(next) = open.totals.get_mut(at) {
                next.add_line(forgotten.lines);
            }
        }
        Ok(())
    }

    /// Records the tokens of all messages up to here.
    pub(super) async fn end_usage(&mut self) -> Result<(), ImportError> {
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

    async fn close_usage(&mut self, session: &str, name: &str) -> Result<(), ImportError> {
        let chain = self.session(session).chain(name);
        let run = chain.ids.run;
        let Some(open) = chain.usage.take() else {
            return Ok(());
        };
        let Some(last) = open.totals.last().map(|last| last.tokens) else {
            return Ok(());
        };
        // What was recorded when the recording ended here or there.
        let recorded = self.newest_recorded(&open).await?;
        let new = open.totals.get(recorded.map_or(0, |at| at + 1)..);
        let (new, recorded) = (
            new.unwrap_or_default(),
            recorded.and_then(|at| open.totals.get(at)),
        );
        self.close(session, &open.message, last, recorded, !new.is_empty());
        if new.is_empty() {
            return Ok(());
        }
        let mut load = Load::default();
        for total in new {
            keep_tokens(&self.agent.token_paths, total.lines, &mut load.fields);
        }
        let before = recorded.map_or([0; 4], |total| total.tokens);
        if is_more(&before, &last) {
            self.remarks
                .add(Remark::UsageShrinks, &self.file, open.line);
        }
        let mut more = last;
        for (more, before) in more.iter_mut().zip(before) {
            *more = more.saturating_sub(before);
        }
        if more == [0; 4] {
            self.fields.add_as_lost(&load.fields);
            return Ok(());
        }
        let by = By {
            actor: self.agent.agent(),
            at: open.at,
        };
        let usage = commands::usage(run, open.model.as_deref(), more);
        let batch = ImportBatch {
            key: self.ids.usage_batch(&open.message, &last),
            name: open.message.clone(),
            requests: vec![by.request(usage)],
            seen: None,
            tokens: None,
            model: open.model,
            load,
            line: open.line,
        };
        self.work(session, name, batch).await
    }

    /// The newest of a message's totals that the log has, by its number.
    async fn newest_recorded(&mut self, open: &OpenUsage) -> Result<Option<usize>, ImportError> {
        for (at, total) in open.totals.iter().enumerate().rev() {
            let key = self.ids.usage_batch(&open.message, &total.tokens);
            if self.is_known(key).await? {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// Remembers that a message is over. Lines that repeat what this import
    /// recorded of it are kept like those before them.
    fn close(
        &mut self,
        session: &str,
        message: &str,
        tokens: [u64; 4],
        recorded: Option<&Total>,
        is_new: bool,
    ) {
        let before = self.closed.get(message).filter(|closed| closed.is_new);
        let repeated =
            recorded.filter(|total| before.is_some_and(|closed| closed.tokens == total.tokens));
        if let Some(total) = repeated {
            keep_tokens(&self.agent.token_paths, total.lines, &mut self.fields);
        }
        let closed = Closed {
            owner: session.to_owned(),
            tokens,
            is_new: is_new || repeated.is_some(),
        };
        self.closed.put(message.to_owned(), closed);
    }
}

/// Counts tokens that are in the log, by how many lines have each of them.
fn keep_tokens(paths: &[&str; 4], lines: [u64; 4], fields: &mut Fields) {
    for (path, count) in paths.iter().zip(lines).filter(|(_, count)| *count > 0) {
        fields.kept_times(path, count);
    }
}

fn total(tokens: [u64; 4]) -> Total {
    Total {
        tokens,
        ..Total::default()
    }
}

fn is_more(totals: &[u64; 4], before: &[u64; 4]) -> bool {
    totals.iter().zip(before).any(|(now, before)| now > before)
}
