//! The tokens of messages. Several lines share a message, and its tokens grow
//! from one to the next: the last line counts, once.

use annals::projections::continued_usage;
use uuid::Uuid;

use super::batch::{ImportBatch, Load};
use super::commands::{self, By};
use super::importer::Importer;
use super::item::{COUNTS, Counts, Usage};
use super::place::Spoken;
use super::remark::Remark;
use super::session::{Closed, OpenUsage, Total, usage_name};
use crate::import::error::ImportError;
use crate::report::Fields;

/// At most so many totals of a message are remembered, the newest ones.
const TOTALS: usize = 64;

impl Importer<'_> {
    /// Takes the tokens of a message's line in. Another message of the same
    /// chain ends the one before.
    pub(super) async fn count_usage(&mut self, spoken: &mut Spoken<'_>) -> Result<(), ImportError> {
        let entry = spoken.entry;
        let (session, chain) = (spoken.session.clone(), spoken.chain.clone());
        let message = entry.message();
        let open = &self.session(&session).chain(&chain).usage;
        if open.iter().any(|open| open.message != message) {
            self.close_usage(&session, &chain).await?;
        }
        if let Some(usage) = entry.usage {
            self.count_model(spoken, None, usage).await?;
        }
        for beside in &entry.beside {
            let model = Some(beside.model.as_str());
            self.count_model(spoken, model, beside.usage).await?;
        }
        Ok(())
    }

    /// Takes in the tokens of one model: the message's own, or another one that it used beside that.
    async fn count_model(
        &mut self,
        spoken: &mut Spoken<'_>,
        beside: Option<&str>,
        usage: Usage,
    ) -> Result<(), ImportError> {
        let entry = spoken.entry;
        let session = spoken.session.as_str();
        let paths = &self.agent.token_paths;
        let message = entry.message();
        let key_name = usage_name(message, beside);
        let tokens = usage.totals;
        let before = match self.closed.get(&key_name) {
            // A copy of a part of another session has nothing new.
            Some(closed) if closed.owner != session && !is_more(&tokens, &closed.tokens) => {
                keep_tokens(paths, usage.fields, &mut spoken.load.fields);
                return Ok(());
            }
            Some(closed) => Some(closed.tokens),
            None => None,
        };
        let name = spoken.chain.clone();
        let chain = self.session(session).chain(&name);
        let is_it = |open: &OpenUsage| open.beside.as_deref() == beside;
        let place = chain.usage.iter().position(is_it);
        if place.is_none() && before.is_none() && tokens == [0; COUNTS] {
            // There is nothing to record, and the line says nothing else.
            keep_tokens(paths, usage.fields, &mut spoken.load.fields);
            return Ok(());
        }
        let place = place.unwrap_or(chain.usage.len());
        if place == chain.usage.len() {
            chain.usage.push(OpenUsage {
                message: message.to_owned(),
                beside: beside.map(str::to_owned),
                model: entry.model.clone(),
                priced_as: None,
                at: spoken.at,
                totals: Vec::from_iter(before.map(total)),
                line: spoken.line,
            });
        }
        let Some(open) = chain.usage.get_mut(place) else {
            return Ok(());
        };
        (open.at, open.line) = (spoken.at, spoken.line);
        if entry.priced_as.is_some() && beside.is_none() {
            open.priced_as.clone_from(&entry.priced_as);
        }
        if open.totals.last().map(|last| last.tokens) != Some(tokens) {
            open.totals.push(total(tokens));
        }
        if let Some(last) = open.totals.last_mut() {
            last.add_line(usage.fields);
        }
        let oldest = open.totals.first().copied().unwrap_or_default();
        let is_full = open.totals.len() > TOTALS;
        self.open_usage.insert((session.to_owned(), name.clone()));
        if is_full {
            self.forget_total(session, &name, place, (&key_name, &oldest.tokens))
                .await?;
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
        let open = chain.usage.iter().find(|open| open.message == message);
        let Some((open, last)) = open.and_then(|open| Some((open, open.totals.last()?))) else {
            return Ok(());
        };
        let (tokens, model) = (last.tokens, open.model.clone());
        let (at, line, key_name) = (open.at, open.line, open.name());
        for tokens in forms(&tokens) {
            let key = ids.usage_batch(&key_name, &tokens);
            if let Some(batch) = self.known(key).await? {
                return self.has_work(session, name, batch).await;
            }
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
        place: usize,
        (key_name, oldest): (&str, &Counts),
    ) -> Result<(), ImportError> {
        let mut is_known = false;
        for tokens in forms(oldest) {
            is_known |= self
                .is_known(self.ids.usage_batch(key_name, &tokens))
                .await?;
        }
        let at = usize::from(is_known);
        if let Some(open) = self.session(session).chain(chain).usage.get_mut(place)
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
        for (session, chain) in std::mem::take(&mut self.open_usage) {
            self.close_usage(&session, &chain).await?;
        }
        Ok(())
    }

    async fn close_usage(&mut self, session: &str, name: &str) -> Result<(), ImportError> {
        for open in std::mem::take(&mut self.session(session).chain(name).usage) {
            self.close_model(session, name, open).await?;
        }
        Ok(())
    }

    async fn close_model(
        &mut self,
        session: &str,
        name: &str,
        open: OpenUsage,
    ) -> Result<(), ImportError> {
        let run = self.session(session).chain(name).ids.run;
        let key_name = open.name();
        let Some(last) = open.totals.last().map(|last| last.tokens) else {
            return Ok(());
        };
        // What was recorded when the recording ended here or there.
        let recorded = self.newest_recorded(&open).await?;
        let partly = recorded.filter(|recorded| !recorded.is_whole);
        let begins = recorded.map_or(0, |recorded| recorded.at + usize::from(recorded.is_whole));
        let new = open.totals.get(begins..).unwrap_or_default();
        let earlier = recorded.as_ref().map(|recorded| recorded.key);
        let recorded = recorded.map(|recorded| recorded.total);
        self.close(session, &key_name, last, recorded.as_ref(), !new.is_empty());
        if new.is_empty() {
            return Ok(());
        }
        let mut load = Load::default();
        for (index, total) in new.iter().enumerate() {
            // Of the total that the log has in part, its lines' tokens were counted then.
            let lines = match partly.filter(|_| index == 0) {
                None => total.lines,
                Some(recorded) => rest_of(&total.lines, &recorded.total.tokens),
            };
            keep_tokens(&self.agent.token_paths, lines, &mut load.fields);
        }
        let before = recorded.map_or([0; COUNTS], |total| total.tokens);
        if is_more(&before, &last) {
            self.remarks
                .add(Remark::UsageShrinks, &self.file, open.line);
        }
        let more = less(&last, &before);
        if more == [0; COUNTS] {
            self.fields.add_as_lost(&load.fields);
            return Ok(());
        }
        let by = By {
            actor: self.agent.agent(),
            at: open.at,
        };
        let model = open.beside.as_ref().or(open.priced_as.as_ref());
        let model = model.or(open.model.as_ref()).map(String::as_str);
        let usage = commands::usage(run, model, more);
        let mut request = by.request(usage);
        if let Some(earlier) = self.first_usage(earlier).await? {
            request.causation = Some(earlier);
            request.correlation = Some(continued_usage(earlier));
        }
        let batch = ImportBatch {
            key: self.ids.usage_batch(&key_name, &last),
            name: key_name,
            requests: vec![request],
            seen: None,
            tokens: None,
            model: open.model,
            load,
            line: open.line,
        };
        self.work(session, name, batch).await
    }

    /// The event of a total that the log has, which another one continues.
    async fn first_usage(&mut self, key: Option<Uuid>) -> Result<Option<Uuid>, ImportError> {
        let Some(key) = key else {
            return Ok(None);
        };
        let Some(batch) = self.known(key).await? else {
            return Ok(None);
        };
        let record = self.annals.contents().record(batch.last).await?;
        Ok(record.map(|record| record.event_id()))
    }

    /// The newest of a message's totals that the log has.
    async fn newest_recorded(
        &mut self,
        open: &OpenUsage,
    ) -> Result<Option<RecordedTotal>, ImportError> {
        let key_name = open.name();
        for (at, total) in open.totals.iter().enumerate().rev() {
            for tokens in forms(&total.tokens) {
                let key = self.ids.usage_batch(&key_name, &tokens);
                if self.is_known(key).await? {
                    return Ok(Some(RecordedTotal {
                        at,
                        total: Total { tokens, ..*total },
                        key,
                        is_whole: tokens == total.tokens,
                    }));
                }
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
        tokens: Counts,
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

/// A total that the log has.
#[derive(Debug, Clone, Copy)]
struct RecordedTotal {
    /// Its number among those of its message.
    at: usize,
    total: Total,
    /// Its batch.
    key: Uuid,
    /// Whether the log has all of it.
    is_whole: bool,
}

/// Returns what this version of the program records of a total, and then what earlier versions recorded, as far as that is
/// less: no searches of the web, and at first four sorts of tokens alone.
fn forms(counts: &Counts) -> impl Iterator<Item = Counts> {
    let [input, read, write, output, reasoning, hour, cost, _] = *counts;
    let without_searches = [input, read, write, output, reasoning, hour, cost, 0];
    let four_sorts = [input, read, write, output, 0, 0, 0, 0];
    let earlier = (without_searches != *counts).then_some(without_searches);
    let first = (four_sorts != without_searches).then_some(four_sorts);
    [Some(*counts), earlier, first].into_iter().flatten()
}

/// Returns of a line's counts those that a recorded total does not have.
fn rest_of(lines: &Counts, recorded: &Counts) -> Counts {
    let mut rest = *lines;
    let [_, _, _, _, more @ ..] = &mut rest;
    let [_, _, _, _, recorded @ ..] = recorded;
    for (count, recorded) in more.iter_mut().zip(recorded) {
        if *recorded > 0 {
            *count = 0;
        }
    }
    let [input, read, write, output, ..] = &mut rest;
    [*input, *read, *write, *output] = [0; 4];
    rest
}

/// Counts with others taken off.
fn less(counts: &Counts, others: &Counts) -> Counts {
    let mut rest = *counts;
    for (rest, other) in rest.iter_mut().zip(others) {
        *rest = rest.saturating_sub(*other);
    }
    rest
}

/// Counts tokens that are in the log, by how many lines have each of them.
fn keep_tokens(paths: &[&str; COUNTS], lines: Counts, fields: &mut Fields) {
    for (path, count) in paths.iter().zip(lines).filter(|(_, count)| *count > 0) {
        fields.kept_times(path, count);
    }
}

fn total(tokens: Counts) -> Total {
    Total {
        tokens,
        ..Total::default()
    }
}

fn is_more(totals: &Counts, before: &Counts) -> bool {
    totals.iter().zip(before).any(|(now, before)| now > before)
}
