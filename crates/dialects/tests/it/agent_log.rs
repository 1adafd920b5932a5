//! Logs into which recordings of any agent are imported, and what is in them, for people.

use std::collections::BTreeMap;
use std::path::Path;

use annals::projections::{Entry, PatchSetView};
use annals_dialects::ImportReport;
use annals_dialects::import::{self, ImportOptions};
use annals_domain::run::Event as RunEvent;
use annals_domain::{AnyEvent, intent, pipeline};
use annals_event_log::Digest;
use futures::executor::block_on;

use crate::claude::log::Log;
use crate::claude::recording::Folder;
use crate::recorded::assert_same;

/// A log with what was imported into it last.
pub(crate) struct AgentLog(pub(crate) Log);

impl AgentLog {
    pub(crate) fn empty() -> AgentLog {
        AgentLog(Log::empty())
    }

    /// A log of one file.
    pub(crate) fn of(name: &str, text: &str) -> AgentLog {
        let mut log = AgentLog::empty();
        log.add(name, text);
        log
    }

    /// Imports a file, of which it must be known whose it is and in which nothing is broken.
    pub(crate) fn add(&mut self, name: &str, text: &str) {
        let report = self.try_add(name, text);
        assert_eq!(report.broken, [], "{report}");
    }

    pub(crate) fn try_add(&mut self, name: &str, text: &str) -> ImportReport {
        let folder = Folder::new();
        let path = folder.write(name, text);
        self.import(&path);
        self.0.report.clone()
    }

    pub(crate) fn import(&mut self, path: &Path) {
        let options = ImportOptions::default();
        let none = &mut |_| {};
        let reports = import::recordings(&self.0.annals, path, None, &options, none);
        let mut reports = block_on(reports).unwrap();
        assert_eq!(reports.len(), 1, "{reports:?}");
        self.0.report = reports.remove(0);
    }

    fn all<T>(&self, of: impl Fn(&Entry) -> Option<T>) -> Vec<T> {
        self.0.entries().iter().filter_map(of).collect()
    }

    /// What persons asked for.
    pub(crate) fn prompts(&self) -> Vec<String> {
        self.all(|entry| match &entry.event {
            AnyEvent::Intent(intent::Event::Submitted(event)) => {
                Some(entry.text(event.prompt).to_string())
            }
            _ => None,
        })
    }

    /// The calls with how they ended and their arguments.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.all(|entry| match &entry.event {
            AnyEvent::Run(RunEvent::ToolInvoked(event)) => {
                let name = entry.text(event.tool_name).to_string();
                let args = event.args.map(|slot| entry.text(slot).to_string());
                Some(format!(
                    "{name} {} {}",
                    event.status,
                    args.unwrap_or_default()
                ))
            }
            _ => None,
        })
    }

    /// The edits: the files that they touch, and their diffs.
    pub(crate) fn edits(&self) -> Vec<String> {
        let edits = self.all(|entry| match &entry.event {
            AnyEvent::Run(RunEvent::PatchSetProposed(event)) => Some(event.patch_set),
            _ => None,
        });
        let shown = |id| {
            let patch_set: PatchSetView = self.0.get(id);
            let touched = patch_set.touched.iter().map(|file| {
                let (added, deleted) = (file.lines_added, file.lines_deleted);
                format!("{} {} +{added} -{deleted}\n", file.change_type, file.path)
            });
            let touched: String = touched.collect();
            let diff = patch_set.artifact.as_ref().map(|artifact| {
                let digest: Digest = artifact.key.as_str().unwrap().parse().unwrap();
                let bytes = block_on(self.0.annals.contents().get(digest))
                    .unwrap()
                    .unwrap();
                String::from_utf8(bytes.to_vec()).unwrap()
            });
            format!(
                "{} {touched}{}",
                patch_set.status(),
                diff.unwrap_or_default()
            )
        };
        edits.into_iter().map(shown).collect()
    }

    /// What the frames say that an agent's program dropped, in the order in which they went.
    pub(crate) fn dropped(&self) -> Vec<String> {
        let mut pushed = BTreeMap::new();
        let mut gone = Vec::new();
        for entry in self.0.entries() {
            let of = entry.stream.id;
            match &entry.event {
                AnyEvent::Pipeline(pipeline::Event::FramePushed(event)) => {
                    let summary = entry.text(event.summary).to_string();
                    pushed.insert((of, event.frame_id), summary);
                }
                AnyEvent::Pipeline(pipeline::Event::FramesDropped(event)) => {
                    for range in &event.frames {
                        let range = (of, range.first)..=(of, range.last);
                        gone.extend(pushed.range(range).map(|(_, summary)| summary.clone()));
                    }
                }
                _ => {}
            }
        }
        gone
    }

    pub(crate) fn tokens(&self) -> [u64; 4] {
        self.0.tokens()
    }

    pub(crate) fn frames(&self) -> Vec<String> {
        self.0.frames()
    }
}

/// Checks that what a recording becomes does not depend on how often and how far it is read: `cuts` are its
/// texts as it grew, the whole one last.
pub(crate) fn check_grown(name: &str, cuts: &[String]) {
    let whole = cuts.last().unwrap();
    let once = AgentLog::of(name, whole);
    for cut in cuts {
        let mut grown = AgentLog::empty();
        if !cut.trim().is_empty() {
            let folder = Folder::new();
            let path = folder.write(name, cut);
            let options = ImportOptions::default();
            // A file that has nothing yet that shows its format is not a recording.
            let _ = block_on(import::recordings(
                &grown.0.annals,
                &path,
                None,
                &options,
                &mut |_| {},
            ));
        }
        grown.add(name, whole);
        assert_same(&grown.0, &once.0, &format!("cut: {cut}"));
        // And there is nothing left to add, under another name either.
        let end = grown.0.annals.position();
        grown.add(&format!("copy-of-{name}"), whole);
        assert_eq!(
            (grown.0.annals.position(), grown.0.report.events_made),
            (end, 0)
        );
    }
}
