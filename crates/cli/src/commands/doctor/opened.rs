//! What a log says of itself when it is open.

use annals::domain::Timestamp;
use annals::domain::settings::{Setting, State as Settings};
use annals::event_log::{Epoch, ReadError, SUBSCRIPTIONS, check_clock, record_at, tree};
use annals::projections::{Catalogue, CatalogueReport};
use annals::{Annals, OpenError};
use chrono::{DateTime, TimeDelta};

use super::files::RESTORE;
use super::{Check, State};
use crate::context::Context;
use crate::error::CliError;
use crate::output::{bytes, counted};
use crate::progress;

/// Clocks of machines differ by so much.
const SKEW: TimeDelta = TimeDelta::minutes(5);

/// All checks of the log as readers see it.
/// `is_damaged` says that the files' checks have found damage, with what to do.
pub(super) async fn checks(context: &Context, deep: bool, is_damaged: bool) -> Vec<Check> {
    let annals = match context.reader() {
        Ok(annals) => annals,
        Err(error) => return vec![unopened(&error, is_damaged)],
    };
    let what = format!("it can be read up to position {}", annals.position());
    let mut checks = vec![
        Check::new("opens", State::Ok, what),
        check("tree", hashes(&annals).await),
        check("catalogue", catalogue(&annals).await),
        check("clock", clock(&annals).await),
        check("settings", settings(&annals).await),
        check("redaction", redaction(&annals).await),
    ];
    if deep {
        checks.push(check("content", content(&annals).await));
    }
    checks
}

/// Why the log does not open, with what to do where that was not said.
fn unopened(error: &CliError, is_damaged: bool) -> Check {
    let Some(OpenError::Rocks(cause)) = error.cause() else {
        return Check::of("opens", error);
    };
    let check = Check {
        what: cause.finding(),
        ..Check::of("opens", error)
    };
    match cause.remedy() {
        Some(remedy) => check.remedy(remedy),
        None if error.is_corrupt() && !is_damaged => check.remedy(RESTORE),
        None => check,
    }
}

fn check(name: &'static str, checked: Result<Check, CliError>) -> Check {
    checked.unwrap_or_else(|error| Check::of(name, &error))
}

/// Whether the Merkle tree is whole.
async fn hashes(annals: &Annals) -> Result<Check, CliError> {
    let check = |state, what: String| Check::new("tree", state, what);
    let log = annals.log().as_ref();
    let size = annals.position().0;
    let found = match tree::root(log, size).await {
        Ok(root) => return Ok(check(State::Ok, format!("root {root}"))),
        Err(ReadError::Corrupt { reason }) => reason,
        Err(error) => return Err(error.into()),
    };
    Ok(match is_older(annals, size).await? {
        true => check(
            State::Note,
            "the last hashes are missing: an older program wrote the log".into(),
        )
        .remedy("the next command that writes makes them"),
        false => check(State::Corrupt, found).remedy("`annals proof verify` names what is wrong"),
    })
}

/// Whether the hashes end before the log does, and are whole up to there. They are kept from the first record on, so
/// those of an older program's records are missing at the end.
async fn is_older(annals: &Annals, size: u64) -> Result<bool, CliError> {
    let Some(rocks) = annals.rocks() else {
        return Ok(false);
    };
    let stored = match rocks.stored_hashes() {
        Ok(stored) if stored < size => stored,
        Ok(_) | Err(ReadError::Corrupt { .. }) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    Ok(tree::root(annals.log().as_ref(), stored).await.is_ok())
}

/// How far the catalogue's rows are behind the log.
async fn catalogue(annals: &Annals) -> Result<Check, CliError> {
    let log = annals.log().as_ref();
    let model = Catalogue::new().model(log).await;
    let model = model.map_err(annals::LoadError::from)?;
    let kept = log.checkpoint(&model).await?.position;
    let end = log.watermark();
    let hidden = match annals.rocks() {
        Some(rocks) => rocks.hidden_models()?,
        None => Vec::new(),
    };
    // Rows that are ahead of the log's end for readers are not shown to them.
    let ahead = CatalogueReport::of_hidden(&hidden, end);
    let kept = ahead.map_or(kept, |ahead| ahead.position);
    let behind = end.0.saturating_sub(kept.0);
    let check = |state, what: String| Check::new("catalogue", state, what);
    if kept > end {
        let what = format!(
            "it is ahead, with events up to {kept}, and readers see {end}: a writer was killed or lost its power"
        );
        return Ok(check(State::Note, what).remedy(
            "the next opening for writing settles it, as `annals service apply /dev/null` does; if it stays, the log has lost its end: `annals proof verify`",
        ));
    }
    Ok(match behind {
        0 => check(State::Ok, "it has everything".into()),
        behind => {
            let events = counted(behind, "event", "events");
            let what = format!("its rows are {events} behind");
            check(State::Note, what)
                .remedy("the next command that lists or writes brings them up to date")
        }
    })
}

/// Whether the clock fits the times in the log, which never decrease.
async fn clock(annals: &Annals) -> Result<Check, CliError> {
    let check = |state, what: String| Check::new("clock", state, what);
    let log = annals.log().as_ref();
    let now = annals::event_log::now();
    let last = match record_at(log, annals.position()).await? {
        Some(last) => last.recorded_at(),
        None => DateTime::UNIX_EPOCH,
    };
    if let Err(error) = check_clock(now, last) {
        return Ok(check(State::Note, error.to_string())
            .remedy("set the machine's clock: nothing is recorded before that"));
    }
    let ahead = last - now;
    if ahead <= SKEW {
        return Ok(check(State::Ok, "no event is ahead of it".into()));
    }
    let what = format!(
        "the last event was recorded at {}, {} ahead of the clock: later events get the same time until then",
        Timestamp::from(last),
        match ahead.num_days() {
            0 => counted(ahead.num_minutes().unsigned_abs(), "minute", "minutes"),
            days => counted(days.unsigned_abs(), "day", "days"),
        },
    );
    let remedy =
        "their order is right, as it follows from positions; if the clock is wrong now, set it";
    Ok(check(State::Note, what).remedy(remedy))
}

/// Which settings were changed.
async fn settings(annals: &Annals) -> Result<Check, CliError> {
    let (state, default) = (annals.inbox().settings().await?, Settings::default());
    let changed = Setting::ALL
        .iter()
        .filter(|it| state.value(**it) != default.value(**it));
    let changed: Vec<String> = changed
        .map(|it| format!("{it} = {}", state.value(*it)))
        .collect();
    let what = match changed.is_empty() {
        true => "all have their default values".to_owned(),
        false => changed.join(", "),
    };
    Ok(Check::new("settings", State::Ok, what))
}

/// Whether bytes of what was removed may lie in the files.
async fn redaction(annals: &Annals) -> Result<Check, CliError> {
    let check = |state, what: &str| Check::new("redaction", state, what.to_owned());
    let Some(rocks) = annals.rocks() else {
        let last = annals.log().checkpoint(SUBSCRIPTIONS).await?;
        return Ok(match last.epoch {
            Epoch::NONE => check(State::Ok, "nothing was removed from the log"),
            _ => check(
                State::Note,
                "content was removed; doctor cannot see whether its bytes are still in dead rows or in the server's WAL",
            )
            .remedy("where that was not done since, VACUUM FULL rewrites the tables (docs/postgres.md)"),
        });
    };
    Ok(match rocks.needs_purge()? {
        false => check(State::Ok, "nothing that was removed is left in the files"),
        true => check(
            State::Note,
            "bytes of removed content are still in the files",
        )
        .remedy("`annals log redact --finish` removes them"),
    })
}

/// Content that no record refers to.
async fn content(annals: &Annals) -> Result<Check, CliError> {
    let Some(rocks) = annals.rocks() else {
        return Err(CliError::in_memory());
    };
    let bar = progress::bar("comparing content", Some(annals.position().0));
    let found = rocks.orphans(&mut |position| bar.set_position(position.0));
    bar.finish_and_clear();
    let found = found?;
    let check = |state, what: String| Check::new("content", state, what);
    Ok(match found.blobs {
        0 => check(State::Ok, "all that is stored is referred to".into()),
        blobs => {
            let blobs = counted(blobs, "blob", "blobs");
            let what = format!("{blobs} of {} that no record refers to", bytes(found.bytes));
            check(State::Note, what).remedy("`annals log gc --apply` removes them")
        }
    })
}
