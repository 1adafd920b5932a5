//! What follows for a session from single facts: its times, its title, whether it waits, its end.

use annals_domain::Timestamp;
use uuid::Uuid;

use super::held::HeldSession;
use super::row::SessionFacts;
use super::summary::{SessionEnd, SessionWait};
use super::title::{TitleRank, title_of};
use crate::Entry;

/// Open permissions and questions of one session that are kept.
const WAITS: usize = 256;
/// Prompts without a frame of one session that are kept.
const TOLD: usize = 1_000;
/// A frame of a prompt can be this much older than what was told of it, in seconds: clocks differ.
const EARLY: i64 = 60;

impl SessionFacts {
    /// Adds the facts of another one, which is the same session.
    pub(super) fn merge(&mut self, other: SessionFacts) {
        self.task_title = self.task_title.take().or(other.task_title);
        if let Some((is_weak, at, text)) = other.prompt_title {
            self.offer_title(is_weak, at, text);
        }
        self.agent_title = self.agent_title.take().max(other.agent_title);
        self.title_by_line = self.title_by_line.take().or(other.title_by_line);
        self.clusters.merge(other.clusters);
        self.waits.extend(other.waits);
        self.waits.sort_by_key(|wait| wait.since);
        self.told.extend(other.told);
        self.may_go_on |= other.may_go_on;
        self.is_named |= other.is_named;
        self.branch_at = self.branch_at.max(other.branch_at);
        for stream in other.streams {
            if !self.streams.contains(&stream) {
                self.streams.push(stream);
            }
        }
    }

    /// Takes a title if it is better than the one before: no weak one, and of an earlier prompt.
    pub(super) fn offer_title(&mut self, is_weak: bool, at: Option<Timestamp>, text: String) {
        let is_better = match &self.prompt_title {
            None => true,
            Some((was_weak, before, _)) => match (was_weak, is_weak) {
                (true, false) => true,
                (false, true) => false,
                _ => at.zip(*before).is_some_and(|(at, before)| at < before),
            },
        };
        if is_better {
            self.prompt_title = Some((is_weak, at, text));
        }
    }
}

impl HeldSession {
    /// Notes that an event belongs to the session; `is_active` if something happened in it then.
    pub(super) fn note(&mut self, entry: &Entry, is_active: bool) {
        let summary = &mut self.row.summary;
        let position = entry.position.0;
        if summary.first_position == 0 {
            summary.first_position = position;
        }
        summary.last_position = summary.last_position.max(position);
        if let Some(at) = entry.agents_time().filter(|_| is_active) {
            self.facts.clusters.add(at);
            self.note_time(at);
            self.row.summary.active_ms = self.facts.clusters.active_ms();
        }
    }

    fn note_time(&mut self, at: Timestamp) {
        let summary = &mut self.row.summary;
        let started = summary.started.map_or(at, |before| before.min(at));
        let last = summary.last_activity.map_or(at, |before| before.max(at));
        (summary.started, summary.last_activity) = (Some(started), Some(last));
    }

    /// Brings the summary in line with the facts.
    pub(super) fn settle(&mut self) {
        let (summary, facts) = (&mut self.row.summary, &self.facts);
        summary.active_ms = facts.clusters.active_ms();
        summary.waiting = facts.waits.first().cloned();
        summary.is_agents_title = facts.agent_title.is_some();
        let prompt = facts.prompt_title.as_ref();
        let agents = facts.agent_title.as_ref().map(|(_, text)| text);
        let title = agents
            .or(prompt.map(|(_, _, text)| text))
            .or(facts.task_title.as_ref());
        summary.title = title.cloned();
    }

    /// Notes times of a session that is the same.
    pub(super) fn note_times(&mut self, times: [Option<Timestamp>; 2]) {
        let times = times.into_iter().flatten();
        times.for_each(|at| self.note_time(at));
    }

    /// Takes the title that a prompt gives.
    pub(super) fn offer_prompt(&mut self, at: Option<Timestamp>, prompt: &str) {
        if let Some((rank, title)) = title_of(prompt) {
            self.facts.offer_title(rank == TitleRank::Weak, at, title);
            self.settle();
        }
    }

    /// Takes a title that the agent gave; a later one of the same rank replaces it.
    pub(super) fn offer_agents_title(&mut self, rank: u8, title: &str) {
        let title = title.trim();
        let before = self.facts.agent_title.as_ref();
        if !title.is_empty() && before.is_none_or(|(before, _)| *before <= rank) {
            let title = annals_domain::cut(title, 1_000).to_owned();
            self.facts.agent_title = Some((rank, title));
            self.settle();
        }
    }

    /// Opens a permission or a question, unless it is open.
    pub(super) fn wait_for(&mut self, call: Uuid, is_question: bool, since: Timestamp) {
        let waits = &mut self.facts.waits;
        let is_open = |wait: &SessionWait| wait.call == call && wait.is_question == is_question;
        if waits.len() < WAITS && !waits.iter().any(is_open) {
            waits.push(SessionWait {
                call,
                is_question,
                since,
            });
            waits.sort_by_key(|wait| wait.since);
            self.settle();
        }
    }

    /// Closes the permission of a call, and its question if that was answered.
    pub(super) fn close_wait(&mut self, call: Uuid, with_question: bool) {
        let before = self.facts.waits.len();
        let stays = |wait: &SessionWait| wait.call != call || (wait.is_question && !with_question);
        self.facts.waits.retain(stays);
        if self.facts.waits.len() != before {
            self.settle();
        }
    }

    /// Closes all permissions.
    pub(super) fn close_approvals(&mut self) {
        self.facts.waits.retain(|wait| wait.is_question);
        self.settle();
    }

    /// The conversation went on at a time: what was open before is closed, and an end that the agent can take back is
    /// none.
    pub(super) fn go_on(&mut self, at: Option<Timestamp>) {
        let Some(at) = at else {
            return;
        };
        let before = self.facts.waits.len();
        self.facts.waits.retain(|wait| wait.since >= at);
        self.take_back_end(Some(at));
        if self.facts.waits.len() != before {
            self.settle();
        }
    }

    /// Something was done at a time: an end that the agent can take back is none.
    pub(super) fn take_back_end(&mut self, at: Option<Timestamp>) {
        let end = &mut self.row.summary.end;
        let is_later = at.is_some_and(|at| end.as_ref().is_some_and(|end| end.at < at));
        if self.facts.may_go_on && is_later {
            *end = None;
        }
    }

    /// Ends the session as a hook told, unless its recording told of what came later or that it failed. What comes later takes
    /// the end back.
    pub(super) fn end_for_now(&mut self, entry: &Entry, reason: Option<String>) {
        let summary = &self.row.summary;
        let is_last = summary
            .last_activity
            .is_none_or(|last| entry.occurred_at >= last);
        let has_failed = summary.end.as_ref().is_some_and(|end| end.failed);
        if is_last && !has_failed {
            self.end(entry, false, reason);
            self.facts.may_go_on = true;
        }
    }

    /// Ends the session by an error in place of an answer. What comes later takes the end back; without a time nothing is
    /// known to be later.
    pub(super) fn fail_for_now(&mut self, entry: &Entry, reason: &str) {
        let last = self.row.summary.last_activity;
        let is_last = |at| last.is_none_or(|last| at >= last);
        if entry.agents_time().is_some_and(is_last) {
            self.end(entry, true, Some(reason.to_owned()));
            self.facts.may_go_on = true;
        }
    }

    /// Ends the session. The end that was recorded last counts.
    pub(super) fn end(&mut self, entry: &Entry, failed: bool, reason: Option<String>) {
        self.facts.may_go_on = false;
        self.facts.waits.clear();
        self.row.summary.end = Some(SessionEnd {
            failed,
            reason,
            position: entry.position.0,
            at: entry.occurred_at,
        });
        self.settle();
    }

    /// Counts a prompt that was told live and has no frame yet.
    pub(super) fn told(&mut self, intent: Uuid, at: Timestamp) {
        if self.facts.told.len() < TOLD {
            self.facts.told.push(at);
        }
        self.row.summary.counts.prompts += 1;
        self.row.summary.intent.get_or_insert(intent);
    }

    /// Counts the frame of a prompt, unless the prompt was told live and counted then.
    pub(super) fn prompted(&mut self, at: Option<Timestamp>, is_by_person: bool) {
        let is_told = |told: &Timestamp| {
            at.is_none_or(|at| (told.to_utc() - at.to_utc()).num_seconds() <= EARLY)
        };
        let told = &mut self.facts.told;
        match told.iter().position(is_told).filter(|_| is_by_person) {
            Some(place) => {
                told.remove(place);
            }
            None => self.row.summary.counts.prompts += 1,
        }
    }
}
