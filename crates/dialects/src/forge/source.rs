//! Reads the files of a folder. One that is bad is named, and the others are read.

use std::path::Path;

use annals::domain::intent::{RiskBasis, Source as IntentSource};
use annals::domain::settings;

use super::error::{ForgeError, Read};
use super::folder::{Folder, Named, Part, files};
use super::intent::{self, ForgeIntent};
use super::review::{self, ForgeReview};
use super::sieve::Sieve;
use super::task::{self, TaskFile};
use super::text::decode;
use super::words::IntentStatus;
use crate::others::Others;
use crate::report::ImportReport;
use crate::secrets::Secrets;

/// An intent and the file that it is in.
pub(super) struct IntentFile {
    pub(super) file: Named,
    pub(super) intent: ForgeIntent,
    /// Whether its file says that it is proposed and it goes on all the same: an agent
    /// declared a risk that waits for no person. Its status here is approved then.
    pub(super) goes_on: bool,
    /// Whether it is a person's by what the log has of it, regardless of what its file says by now.
    pub(super) is_persons: bool,
    /// The lines of what it names.
    pub(super) parent_line: u64,
    pub(super) depends_on_line: u64,
}

/// The tasks of an intent and the file that they are in.
pub(super) struct TasksFile {
    pub(super) file: Named,
    pub(super) tasks: TaskFile,
}

/// A review and the file that it is in.
pub(super) struct ReviewFile {
    pub(super) file: Named,
    pub(super) review: ForgeReview,
}

/// All that a folder says, but for its drafts.
#[derive(Default)]
pub(super) struct Source {
    pub(super) intents: Vec<IntentFile>,
    pub(super) tasks: Vec<TasksFile>,
    pub(super) reviews: Vec<ReviewFile>,
    /// The names of intents whose files are bad.
    pub(super) bad_intents: Vec<String>,
    /// The names of intents whose tasks' files are bad.
    pub(super) bad_tasks: Vec<String>,
}

/// Names a file's error in a report.
pub(super) fn broken(report: &mut ImportReport, path: &Path, error: &ForgeError) {
    report.records_read += 1;
    let file = path.display().to_string();
    report.add_broken(&file, error.line().unwrap_or(1), error.to_string());
}

/// What a file has, as this reads it; nothing, if it cannot be read.
fn read<T>(
    file: &Named,
    secrets: &Secrets,
    report: &mut ImportReport,
    reader: impl FnOnce(&str, &str, &mut Sieve<'_>) -> Read<T>,
) -> Option<T> {
    let bytes = match file.place.bytes() {
        Ok(bytes) => bytes,
        Err(error) => {
            report.records_read += 1;
            let path = file.place.path().display().to_string();
            report.add_broken(&path, 1, format!("it cannot be read: {error}"));
            return None;
        }
    };
    let mut sieve = Sieve::new(secrets);
    let read = decode(&bytes).and_then(|text| reader(text, &file.name, &mut sieve));
    let path = file.place.path().display().to_string();
    report.redacted.add_hits(&path, 1, &sieve.hits);
    match read {
        Ok(read) => Some(read),
        Err(error) => {
            broken(report, file.place.path(), &error);
            None
        }
    }
}

/// The files of a part of the folder, their names without secrets. One that cannot be
/// read is named.
fn listed(
    folder: &Folder,
    part: Part,
    secrets: &Secrets,
    others: &mut Others,
    report: &mut ImportReport,
) -> Vec<Named> {
    let found = folder.part(part).and_then(|part| match part {
        Some(part) => files(&part, ".yaml", others),
        None => Ok(Vec::new()),
    });
    let mut files = found.unwrap_or_else(|error| {
        let path = folder.path_of(part).display().to_string();
        report.add_broken(&path, 1, error.to_string());
        Vec::new()
    });
    for file in &mut files {
        let name = secrets.redact(&file.name);
        let path = file.place.path().display().to_string();
        report.redacted.add_hits(&path, 1, &name.hits);
        file.name = name.content.into_owned();
    }
    files
}

/// The line that a key of the outermost mapping is in.
fn line_of(text: &str, key: &str) -> u64 {
    let is_it = |line: &str| {
        let line = line.trim_start_matches(['"', '\'']);
        let rest = line.strip_prefix(key).unwrap_or_default();
        rest.trim_start_matches(['"', '\'', ' ']).starts_with(':')
    };
    let mut lines = (1..).zip(text.lines());
    lines.find(|(_, line)| is_it(line)).map_or(1, |(n, _)| n)
}

impl Source {
    /// Reads the files of a folder without their secrets.
    pub(super) fn read(
        folder: &Folder,
        secrets: &Secrets,
        others: &mut Others,
        report: &mut ImportReport,
    ) -> Source {
        let mut source = Source::default();
        let intents = listed(folder, Part::Intents, secrets, others, report);
        source.read_intents(intents, secrets, report);
        for file in listed(folder, Part::Tasks, secrets, others, report) {
            match read(&file, secrets, report, task::read_through) {
                Some(tasks) => source.tasks.push(TasksFile { file, tasks }),
                None => source.bad_tasks.push(file.name),
            }
        }
        for file in listed(folder, Part::Reviews, secrets, others, report) {
            if let Some(review) = read(&file, secrets, report, review::read_through) {
                source.reviews.push(ReviewFile { file, review });
            }
        }
        source
    }

    /// Reads the files of intents. One that is bad is named.
    pub(super) fn read_intents(
        &mut self,
        files: impl IntoIterator<Item = Named>,
        secrets: &Secrets,
        report: &mut ImportReport,
    ) {
        for file in files {
            let found = read(&file, secrets, report, |text, _, sieve| {
                let lines = (line_of(text, "parent"), line_of(text, "depends_on"));
                Ok((intent::read_through(text, sieve)?, lines))
            });
            match found {
                Some((intent, (parent_line, depends_on_line))) => self.intents.push(IntentFile {
                    file,
                    intent,
                    goes_on: false,
                    is_persons: false,
                    parent_line,
                    depends_on_line,
                }),
                None => self.bad_intents.push(file.name),
            }
        }
    }

    /// Lets go on what agents themselves proposed with a risk that asks for no person.
    /// A person's file goes on as its status says.
    pub(super) fn let_go(&mut self, settings: &settings::State) {
        for file in &mut self.intents {
            let intent = &mut file.intent;
            let is_an_agents = intent.source != IntentSource::Human && !file.is_persons;
            let is_low = |risk| settings.approves(risk, RiskBasis::Declared);
            let is_proposed = intent.status == IntentStatus::Proposed;
            if is_an_agents && is_proposed && intent.risk.is_some_and(is_low) {
                intent.status = IntentStatus::Approved;
                file.goes_on = true;
            }
        }
    }

    /// How many files could be read.
    pub(super) fn len(&self) -> u64 {
        (self.intents.len() + self.tasks.len() + self.reviews.len()) as u64
    }
}
