//! The import of `annals start`: the recordings of all agents, those that changed last first.

use std::cmp::Reverse;

use annals::Annals;
use annals_dialects::ImportReport;
use annals_dialects::import::{self, GroupedRecording, ImportOptions, RecordingGroup};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::state::ImportedRecordings;
use crate::agents::AgentFolder;
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Output, counted};

/// Bytes of a megabyte.
const MEGABYTE: u64 = 1_000_000;

/// How an import ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Outcome {
    Done {
        /// The records that could not be imported, now or by an earlier start.
        broken: u64,
    },
    Interrupted,
}

/// The recordings of all agents, in groups that are imported one after the other.
pub(in crate::commands) struct Recordings {
    groups: Vec<RecordingGroup>,
    /// The number of files that look like recordings and cannot be read.
    unread: u64,
}

/// How far an import is.
struct Tally {
    sessions: usize,
    bytes: u64,
    all_sessions: usize,
    all_bytes: u64,
}

impl Tally {
    fn line(&self, within: u64) -> String {
        format!(
            "{} of {} sessions, {} of {} MB",
            self.sessions,
            self.all_sessions,
            (self.bytes + within) / MEGABYTE,
            self.all_bytes.div_ceil(MEGABYTE),
        )
    }
}

impl Recordings {
    /// Finds the recordings in the agents' folders. A folder that cannot be read is named, and passed over.
    pub(in crate::commands) fn find(folders: &[AgentFolder], context: &Context) -> Recordings {
        let (mut groups, mut unread) = (Vec::new(), 0);
        for folder in folders {
            match import::recordings_in(&folder.path, folder.agent.unwrap_or_default()) {
                Ok(found) => {
                    groups.extend(found.groups);
                    for (path, reason) in found.unread {
                        unread += 1;
                        let path = path.display();
                        context
                            .output
                            .warn(&format!("{path} was not imported: {reason}"));
                    }
                }
                Err(error) => context.output.warn(&error.to_string()),
            }
        }
        groups.sort_by_key(|group| Reverse(group.modified()));
        Recordings { groups, unread }
    }

    /// Returns `true` if there are none.
    pub(in crate::commands) fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.unread == 0
    }

    /// The number of files that look like recordings and cannot be read.
    pub(in crate::commands) fn unread(&self) -> u64 {
        self.unread
    }

    /// Imports them. `show` is called once there is something to see. A recording that cannot be imported is named, and
    /// the others are imported.
    pub(in crate::commands) async fn import(
        self,
        annals: &Annals,
        options: &ImportOptions,
        imported: &mut ImportedRecordings,
        show: impl FnOnce(),
        output: &Output,
    ) -> Result<Outcome, CliError> {
        let mut tally = Tally {
            sessions: 0,
            bytes: 0,
            all_sessions: self.groups.iter().map(RecordingGroup::sessions).sum(),
            all_bytes: self.groups.iter().map(RecordingGroup::bytes).sum(),
        };
        let bar = line();
        let mut show = Some(show);
        let mut broken = 0;
        for group in &self.groups {
            for recording in &group.files {
                if !imported.has(recording) {
                    let mut progress = |done| bar.set_message(tally.line(done));
                    let read = read(annals, group.agent, recording, options, &mut progress).await;
                    match read {
                        Ok(reports) => {
                            bar.suspend(|| name_broken(recording, &reports, output));
                            let secrets = reports.iter().map(|it| it.redacted.count()).sum();
                            let broken = reports.iter().map(|it| it.broken_count).sum();
                            imported.add(recording, secrets, broken);
                        }
                        Err(error) if error.is_of_log() => return Err(error.into()),
                        Err(error) => bar.suspend(|| output.warn(&error.to_string())),
                    }
                }
                broken += imported.broken(recording);
                tally.bytes += recording.bytes;
                tally.sessions += usize::from(!recording.is_sub_agent);
                bar.set_message(tally.line(0));
            }
            if let Some(show) = show.take() {
                show();
            }
        }
        bar.finish_and_clear();
        if let Some(show) = show {
            show();
        }
        Ok(Outcome::Done { broken })
    }
}

/// Warns of the records of a recording that could not be imported, with the first reason.
fn name_broken(recording: &GroupedRecording, reports: &[ImportReport], output: &Output) {
    let path = recording.path.display();
    for report in reports {
        if let Some(first) = report.broken.first() {
            let broken = counted(report.broken_count, "record", "records");
            let reason = &first.reason;
            output.warn(&format!("{path}: {broken} could not be imported: {reason}"));
        }
    }
}

/// Imports a recording.
async fn read(
    annals: &Annals,
    agent: &str,
    recording: &GroupedRecording,
    options: &ImportOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<Vec<ImportReport>, import::ImportError> {
    let mut done = |it: annals_dialects::Progress| progress(it.done);
    let path = &recording.path;
    import::recordings(annals, path, Some(agent), options, &mut done).await
}

/// The progress line, which nothing is drawn of where standard error is not a terminal.
fn line() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("importing: {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_progress_line_has_sessions_and_megabytes() {
        let tally = Tally {
            sessions: 23,
            bytes: 40_100_000,
            all_sessions: 52,
            all_bytes: 84_200_000,
        };
        assert_eq!(tally.line(0), "23 of 52 sessions, 40 of 85 MB");
        assert_eq!(tally.line(2_000_000), "23 of 52 sessions, 42 of 85 MB");
    }
}
