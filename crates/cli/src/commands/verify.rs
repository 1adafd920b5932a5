//! `annals proof verify`: checks everything that is stored.

mod stored;

use annals::projections::{CatalogueReport, SkewReport};
use annals::store_rocks::Unfinished;
use annals::{Annals, StatesReport};
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::output::{Output, counted};
use crate::progress;

use stored::{Found, Stored};

/// What was found in a log.
pub(super) struct Verified {
    report: Stored,
    catalogue: CatalogueReport,
    states: StatesReport,
    /// A redaction that is not at its end.
    unfinished: Option<Unfinished>,
}

pub(crate) async fn run(context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader()?;
    let verified = check(&annals, context).await?;
    let verdict = verified.verdict();
    let (is_verbose, output) = (context.is_verbose, &mut context.output);
    if output.is_json() {
        output.json(&verified.to_json())?;
    } else {
        verified.print(verdict, is_verbose, output)?;
    }
    output.flush()?;
    verified.demand_sound()
}

/// Makes a reader stay at its position, so that everything that it reads is of one moment. That
/// fails for a log whose writer was killed before it recorded how far it had come; then no process
/// moves it.
pub(super) fn stand_still(annals: &Annals) {
    if let Some(rocks) = annals.rocks() {
        let _ = rocks.stand_still();
    }
}

/// Checks everything that is stored.
pub(super) async fn check(annals: &Annals, context: &Context) -> Result<Verified, CliError> {
    let report = match annals.rocks() {
        Some(rocks) => {
            stand_still(annals);
            let bar = progress::bar("verifying", Some(annals.position().0));
            let report = rocks.verify(&mut |position| bar.set_position(position.0))?;
            bar.finish_and_clear();
            Stored::of_files(report)
        }
        None if context.is_on_postgres() => Stored::of_database(annals).await?,
        None => return Err(CliError::in_memory()),
    };
    let bar = progress::bar("comparing the catalogue", Some(annals.position().0));
    let catalogue = annals
        .index()
        .verify(&mut |position| bar.set_position(position.0))
        .await?;
    bar.finish_and_clear();
    let states = annals.index().verify_states().await?;
    Ok(Verified {
        report,
        catalogue,
        states,
        unfinished: annals.contents().unfinished_redaction()?,
    })
}

/// What repairs the log. Findings that are only counted count, too.
fn remedy(report: &Stored) -> &'static str {
    let Stored {
        total_findings: all,
        of_models,
        of_indexes,
        ..
    } = report;
    if all == of_models {
        "rebuild the catalogue with `annals log rebuild`"
    } else if report.is_in_database {
        "restore the database from a backup or a standby"
    } else if *all == of_models + of_indexes {
        "rebuild the indexes with `annals log rebuild --indexes`, or restore the log from a backup"
    } else {
        "restore the log from a backup"
    }
}

impl Verified {
    /// Whether nothing that was found is wrong.
    pub(super) fn is_sound(&self) -> bool {
        self.report.is_sound() && self.catalogue.is_sound() && self.states.is_sound()
    }

    /// Whether nothing is wrong, and all of it could be checked.
    pub(super) fn is_ok(&self) -> bool {
        self.is_sound() && self.unfinished.is_none()
    }

    /// What the log is, in a word.
    pub(super) fn verdict(&self) -> &'static str {
        match (self.is_sound(), &self.unfinished) {
            (false, _) => "DAMAGED",
            (true, Some(_)) => "UNFINISHED",
            (true, None) => "sound",
        }
    }

    /// How many findings there are in all.
    fn total_findings(&self) -> u64 {
        self.report.total_findings + self.catalogue.total_findings + self.states.total_findings
    }

    /// What was found wrong, as an error.
    pub(super) fn demand_sound(&self) -> Result<(), CliError> {
        match self.total_findings() {
            0 => match &self.unfinished {
                None => Ok(()),
                Some(unfinished) => {
                    let message = format!(
                        "not all could be checked, as a redaction (event {}) is unfinished",
                        unfinished.said
                    );
                    let error = CliError::new(ErrorClass::Failed, "redaction_unfinished", message);
                    Err(error.hint(next(unfinished)))
                }
            },
            findings => {
                let remedy = remedy(&self.report);
                Err(CliError::findings(findings, remedy))
            }
        }
    }

    /// What was found, for programs.
    pub(super) fn to_json(&self) -> Value {
        let (report, catalogue, states) = (&self.report, &self.catalogue, &self.states);
        json!({
            "ok": self.is_ok(),
            "position": report.watermark.0,
            "unpublished": report.unpublished.map(|end| end.0),
            "records": report.records,
            "chunks": report.chunks,
            "streams": report.streams,
            "batches": report.batches,
            "blobs": report.blobs,
            "unreferenced_blobs": report.unreferenced_blobs,
            "tree": report.tree,
            "root": report.root.map(|root| root.to_string()),
            "total_findings": report.total_findings,
            "findings": report.findings.iter().map(finding).collect::<Vec<Value>>(),
            "unfinished_redaction": self.unfinished.as_ref().map(|unfinished| json!({
                "recorded": unfinished.said.0,
                "records_left": unfinished.left,
                "is_going_on": unfinished.is_going_on,
            })),
            "clock_skew": {
                "events": catalogue.skew.events,
                "objects": catalogue.skew.objects,
                "example": catalogue.skew.example,
            },
            "catalogue": {
                "position": catalogue.position.0,
                "rows": catalogue.rows,
                "rows_with_removed_content": catalogue.going,
                "compared": catalogue.ahead_of.is_none(),
                "ahead_of": catalogue.ahead_of.map(|end| end.0),
                "total_findings": catalogue.total_findings,
                "findings": catalogue.findings.iter().map(message).collect::<Vec<Value>>(),
            },
            "state_snapshots": {
                "compared": states.compared,
                "unused": states.unused,
                "ahead": states.ahead,
                "total_findings": states.total_findings,
                "findings": states.findings.iter().map(message).collect::<Vec<Value>>(),
            },
        })
    }

    /// Prints the findings, and then the verdict. Clock skew is no finding: recordings have the times of their agents.
    pub(super) fn print(
        &self,
        verdict: &str,
        is_verbose: bool,
        output: &mut Output,
    ) -> Result<(), CliError> {
        let report = &self.report;
        self.print_findings(output)?;
        output.line(&format!(
            "{verdict}: {} of {} in {}, and {}, checked up to position {}",
            counted(report.records, "record", "records"),
            counted(report.streams, "stream", "streams"),
            counted(report.batches, "batch", "batches"),
            counted(report.blobs, "blob", "blobs"),
            report.watermark
        ))?;
        if let Some(unused) = report.unreferenced_blobs.filter(|unused| *unused > 0) {
            output.line(&format!(
                "{} that no record refers to, which is not a fault",
                counted(unused, "blob", "blobs")
            ))?;
        }
        if let Some(unfinished) = &self.unfinished {
            output.line(&format!(
                "a redaction (event {}) is unfinished: {} at most are left to be rewritten, and {} of the catalogue \
                 still have what is being removed, which the last step drops; {}",
                unfinished.said,
                counted(unfinished.left, "record", "records"),
                counted(self.catalogue.going, "row", "rows"),
                next(unfinished),
            ))?;
        }
        if let Some(end) = report.unpublished.filter(|_| report.is_sound()) {
            output.line(&format!(
                "the files go on to position {end}; readers do not show what is behind {}, as it is not known whether it \
                 is durable: the next command that writes makes it so, as `annals service apply /dev/null` does",
                report.watermark
            ))?;
        }
        self.print_catalogue(output)?;
        self.print_snapshots(output)?;
        if let Some(line) = skewed(&self.catalogue.skew).filter(|_| is_verbose) {
            output.line(&line)?;
        }
        match report.root.filter(|_| report.is_sound()) {
            Some(root) if report.tree < report.records => output.line(&format!(
                "root {root}, of which {} of {} are not stored yet: the next command that writes makes them",
                report.records - report.tree,
                counted(report.records, "hash", "hashes"),
            )),
            Some(root) => output.line(&format!("root {root}")),
            None => Ok(()),
        }
    }

    /// How the snapshots of states compare with the log.
    fn print_snapshots(&self, output: &mut Output) -> Result<(), CliError> {
        if self.states.compared > 0 && self.states.is_sound() {
            output.line(&format!(
                "{} of long streams {} what the log gives",
                counted(self.states.compared, "snapshot", "snapshots"),
                if self.states.compared == 1 {
                    "is"
                } else {
                    "are"
                },
            ))?;
        }
        if self.states.ahead > 0 {
            output.line(&format!(
                "{} of long streams {} ahead of what readers see; the next opening for writing settles it",
                counted(self.states.ahead, "snapshot", "snapshots"),
                if self.states.ahead == 1 { "is" } else { "are" },
            ))?;
        }
        Ok(())
    }

    /// How the catalogue's rows compare with the log.
    fn print_catalogue(&self, output: &mut Output) -> Result<(), CliError> {
        if let Some(end) = self.catalogue.ahead_of {
            let settles = match self.report.is_sound() {
                true => {
                    ", as a writer was killed or lost its power; the next opening for writing settles it, as `annals service apply \
                     /dev/null` does"
                }
                false => "",
            };
            output.line(&format!(
                "the catalogue was not compared: it is ahead, with events up to {}, and readers see {end}{settles}",
                self.catalogue.position
            ))?;
        } else if self.catalogue.is_sound() {
            let other = match self.catalogue.going {
                0 => "",
                _ => "other ",
            };
            let rows = self.catalogue.rows.saturating_sub(self.catalogue.going);
            output.line(&format!(
                "the catalogue's {other}{} are those that the log gives up to position {}",
                counted(rows, "row", "rows"),
                self.catalogue.position
            ))?;
        }
        Ok(())
    }

    fn print_findings(&self, output: &mut Output) -> Result<(), CliError> {
        let (report, catalogue, states) = (&self.report, &self.catalogue, &self.states);
        for finding in &report.findings {
            output.line(&finding.message)?;
        }
        for fault in &catalogue.findings {
            output.line(&fault.to_string())?;
        }
        for fault in &states.findings {
            output.line(&fault.to_string())?;
        }
        let shown = report.findings.len() + catalogue.findings.len() + states.findings.len();
        match self.total_findings().saturating_sub(shown as u64) {
            0 => Ok(()),
            more => output.line(&format!("and {more} more findings")),
        }
    }
}

/// What clocks disagree on, if they do.
fn skewed(skew: &SkewReport) -> Option<String> {
    let example = skew.example?;
    Some(format!(
        "clock skew, which is not a fault of the log: {} of {}, dated before what came before, for example of {example} \
         (`annals show {example}`); the order is that of the positions",
        counted(skew.events, "event", "events"),
        counted(skew.objects, "object", "objects"),
    ))
}

/// What becomes of an unfinished redaction.
fn next(unfinished: &Unfinished) -> &'static str {
    match unfinished.is_going_on {
        true => {
            "it is being carried out by the process that writes: run `annals proof verify` again afterwards"
        }
        false => {
            "it is completed when the log is next opened for writing, for example by `annals log redact --finish`"
        }
    }
}

fn message(fault: &impl ToString) -> Value {
    json!({ "message": fault.to_string() })
}

fn finding(finding: &Found) -> Value {
    json!({
        "position": finding.position.map(|position| position.0),
        "stream": finding.stream,
        "message": finding.message,
    })
}
