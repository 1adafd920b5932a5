//! Whether agents delete their own transcripts soon, which the log may not have.

use std::path::Path;
use std::time::SystemTime;

use annals::domain::Timestamp;
use annals_live::expiry::{self, Expiring};
use annals_live::hook::HookAgent;
use annals_live::install::{self, Scope};
use chrono::{DateTime, Utc};

use super::{Check, State};
use crate::output::{counted, when};

/// A note for each agent that deletes transcripts.
pub(super) fn checks() -> Vec<Check> {
    let settings = install::place(HookAgent::Claude, Scope::User).ok();
    let folder = settings.as_deref().and_then(Path::parent);
    let found = folder.and_then(|it| expiry::claude(it, Path::new("."), SystemTime::now()));
    found.iter().map(check).collect()
}

fn check(found: &Expiring) -> Check {
    let (all, soon) = found.transcripts;
    let by = match &found.by {
        Some(path) => format!("by {}", path.display()),
        None => "as cleanupPeriodDays is not set".to_owned(),
    };
    let goes = when(Timestamp::from(DateTime::<Utc>::from(found.goes)));
    let what = format!(
        "{} deletes transcripts after {}, {by}: {} in {}, {soon} within a week; the oldest, {}, goes {goes}",
        found.agent,
        counted(found.days, "day", "days"),
        counted(all as u64, "is", "are"),
        found.folder.display(),
        found.oldest.display(),
    );
    if !found.is_soon() {
        return Check::new("histories", State::Ok, what);
    }
    Check::new("histories", State::Note, what).remedy(format!(
        "`annals import claude {}` keeps what they say; a larger cleanupPeriodDays keeps them",
        found.folder.display()
    ))
}
