//! Logs to import recordings to, and what is in them.

use std::path::Path;
use std::sync::Arc;

use annals::projections::{Entry, Turn, View};
use annals::{Annals, At, TurnRange};
use annals_dialects::ImportReport;
use annals_dialects::claude::{self, ClaudeImportError, ClaudeOptions};
use annals_domain::pipeline::Event as PipelineEvent;
use annals_domain::run::Event as RunEvent;
use annals_domain::{AnyEvent, Slot};
use annals_event_log::memory::MemoryLog;
use annals_event_log::store_support::referenced_blobs;
use annals_event_log::{Blob, IdSecret, Position, Query};
use futures::executor::block_on;
use serde_json::Value;
use uuid::Uuid;

use super::recording::{Folder, Recording};

/// A log in memory, with what was imported last.
pub(crate) struct Log {
    pub(crate) annals: Annals,
    pub(crate) report: ImportReport,
}

impl Log {
    pub(crate) fn empty() -> Log {
        // Lines without an id of their own have the same in each of the logs.
        let secret = IdSecret::from_bytes(&[1; 32]).unwrap();
        let log = MemoryLog::with_id_secret(Uuid::new_v4(), secret);
        Log {
            annals: Annals::over(Arc::new(log)),
            report: ImportReport::default(),
        }
    }

    /// The log as it was when it had so many batches: what a kill between two of them leaves.
    pub(crate) fn killed_after(&self, batches: usize) -> Log {
        let query = Query::all(Position(1)).limit(100_000);
        let all = block_on(self.annals.log().read(query)).unwrap();
        assert_eq!(all.next, None);
        let mut records = all.records;
        let ends = records.chunk_by(|a, b| a.batch_id() == b.batch_id());
        let kept: usize = ends.take(batches).map(<[_]>::len).sum();
        records.truncate(kept);
        let killed = Log::empty();
        if records.is_empty() {
            return killed;
        }
        let blobs = referenced_blobs(&records)
            .into_iter()
            .map(|digest| Blob::new(block_on(self.annals.log().blob(digest)).unwrap().unwrap()));
        let blobs = blobs.collect();
        block_on(killed.annals.log().append_records(records, blobs)).unwrap();
        killed
    }

    /// How many batches there are.
    pub(crate) fn batches(&self) -> usize {
        let mut ids: Vec<Uuid> = self.entries().iter().map(|it| it.batch_id).collect();
        ids.dedup();
        ids.len()
    }

    /// A log of one recording, imported at once.
    pub(crate) fn of(recording: &Recording) -> Log {
        let mut log = Log::empty();
        log.grow(recording, recording.lines.len());
        log
    }

    /// Imports a recording as far as it had come after so many lines.
    pub(crate) fn grow(&mut self, recording: &Recording, lines: usize) {
        let folder = Folder::new();
        let path = folder.write("recording.jsonl", recording.file(lines));
        self.import(&path);
    }

    /// The same of one that says something else than the log has, of a call: that is named.
    pub(crate) fn grow_otherwise(&mut self, recording: &Recording, lines: usize) {
        let folder = Folder::new();
        let path = folder.write("recording.jsonl", recording.file(lines));
        self.report = self.try_import(&path, &ClaudeOptions::default()).unwrap();
        let named = "was recorded before with another content";
        let mut broken = self.report.broken.iter();
        assert!(
            broken.all(|it| it.reason.contains(named)),
            "{}",
            self.report
        );
    }

    /// The same of one of which copies may be named as such.
    pub(crate) fn grow_any(&mut self, recording: &Recording, lines: usize) {
        let folder = Folder::new();
        let path = folder.write("recording.jsonl", recording.file(lines));
        self.report = self.try_import(&path, &ClaudeOptions::default()).unwrap();
    }

    pub(crate) fn import(&mut self, path: &Path) {
        self.report = self.try_import(path, &ClaudeOptions::default()).unwrap();
        assert_eq!(self.report.broken, [], "{}", self.report);
    }

    pub(crate) fn try_import(
        &self,
        path: &Path,
        options: &ClaudeOptions,
    ) -> Result<ImportReport, ClaudeImportError> {
        block_on(claude::import(&self.annals, path, options, &mut |_| {}))
    }

    pub(crate) fn get<V: View>(&self, id: V::Id) -> V {
        block_on(self.annals.get::<V>(id)).unwrap()
    }

    pub(crate) fn get_at<V: View>(&self, id: V::Id, at: Position) -> V {
        block_on(self.annals.get_at::<V>(id, At::Position(at))).unwrap()
    }

    /// The position before the first event of a type.
    pub(crate) fn before(&self, event_type: &str) -> Position {
        let entries = self.entries();
        let found = entries
            .iter()
            .find(|it| it.event.event_type() == event_type);
        Position(found.unwrap().position.0 - 1)
    }

    /// All entries, oldest first.
    /// The turns of a session.
    pub(crate) fn turns(&self, session: &str) -> Vec<Turn> {
        let session = claude::ids().session(session).task;
        let read = self
            .annals
            .conversation(session.0, At::Now, TurnRange::all());
        block_on(read).unwrap().turns
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        let mut next = Some(1);
        while let Some(from) = next {
            let page = block_on(self.annals.log().read(Query::all(Position(from)))).unwrap();
            for record in &page.records {
                entries.push(block_on(self.annals.contents().entry(record)).unwrap());
            }
            next = page.next;
        }
        entries
    }

    /// How many events there are of a type.
    pub(crate) fn count(&self, event_type: &str) -> usize {
        let page = |from| block_on(self.annals.log().read(Query::all(Position(from)))).unwrap();
        let mut count = 0;
        let mut next = Some(1);
        while let Some(from) = next {
            let page = page(from);
            count += page
                .records
                .iter()
                .filter(|record| record.event_type() == event_type)
                .count();
            next = page.next;
        }
        count
    }

    /// The tokens of all runs: uncached input, cache reads, cache writes, output.
    pub(crate) fn tokens(&self) -> [u64; 4] {
        let mut sums = [0; 4];
        for entry in self.entries() {
            if let AnyEvent::Run(RunEvent::UsageRecorded(usage)) = &entry.event {
                sums[0] += usage.uncached_input_tokens;
                sums[1] += usage.cache_read_tokens;
                sums[2] += usage.cache_write_tokens;
                sums[3] += usage.output_tokens;
            }
        }
        sums
    }

    /// The frames of all pipelines: their summaries, token estimates and data.
    pub(crate) fn estimates(&self) -> Vec<(String, Option<u64>, Value)> {
        let frame = |entry: &Entry| match &entry.event {
            AnyEvent::Pipeline(PipelineEvent::FramePushed(pushed)) => {
                let data = entry.json(pushed.data.unwrap());
                let data = serde_json::to_value(data).unwrap();
                Some((text(entry, pushed.summary), pushed.token_estimate, data))
            }
            _ => None,
        };
        self.entries().iter().filter_map(frame).collect()
    }

    /// The frames of all pipelines, as `kind: summary`.
    pub(crate) fn frames(&self) -> Vec<String> {
        let frame = |entry: &Entry| match &entry.event {
            AnyEvent::Pipeline(PipelineEvent::FramePushed(pushed)) => Some(format!(
                "{}: {}",
                pushed.kind.as_str(),
                text(entry, pushed.summary)
            )),
            _ => None,
        };
        self.entries().iter().filter_map(frame).collect()
    }

    pub(crate) fn has_note(&self, part: &str) -> bool {
        self.report.notes.iter().any(|note| note.contains(part))
    }

    /// How often a field was kept, inferred and lost.
    pub(crate) fn fates(&self, path: &str) -> [u64; 3] {
        let count = |list: &[annals_dialects::FieldCount]| {
            let found = list.iter().find(|field| field.path == path);
            found.map_or(0, |field| field.count)
        };
        [
            count(&self.report.fields_kept),
            count(&self.report.fields_inferred),
            count(&self.report.fields_lost),
        ]
    }
}

fn text(entry: &Entry, slot: Slot) -> String {
    entry.text(slot).to_string()
}
