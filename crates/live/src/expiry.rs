//! Which agents delete their own transcripts soon, by their settings.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;

/// How long Claude Code keeps transcripts where its settings say nothing, in days.
const CLAUDE_DAYS: u64 = 30;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What is soon.
const SOON: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The most transcripts that are looked at.
const LOOKED_AT: usize = 100_000;

/// The transcripts of an agent that deletes them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Expiring {
    /// The agent's name for people.
    pub agent: &'static str,
    /// The folder that they are in.
    pub folder: PathBuf,
    /// After how many days they are deleted.
    pub days: u64,
    /// The settings that say so; none where the agent does so by itself.
    pub by: Option<PathBuf>,
    /// How many there are, and how many of them go within a week.
    pub transcripts: (usize, usize),
    /// The oldest, and when it goes.
    pub oldest: PathBuf,
    /// When that is.
    pub goes: SystemTime,
}

/// What Claude Code deletes, by the settings in its folder and in a project's.
pub fn claude(folder: &Path, project: &Path, now: SystemTime) -> Option<Expiring> {
    let projects = folder.join("projects");
    let mut found = Vec::new();
    transcripts(&projects, 4, &mut found);
    let (modified, oldest) = found.iter().min()?.clone();
    // A project's settings go before the user's.
    let files = [
        project.join(".claude/settings.local.json"),
        project.join(".claude/settings.json"),
        folder.join("settings.json"),
    ];
    let set = files
        .into_iter()
        .find_map(|path| Some((days(&path)?, path)));
    let (days, by) = match set {
        Some((days, path)) => (days, Some(path)),
        None => (CLAUDE_DAYS, None),
    };
    let kept = u32::try_from(days)
        .ok()
        .and_then(|days| DAY.checked_mul(days))?;
    // So far away that a time cannot say it: never.
    let goes = modified.checked_add(kept)?;
    let limit = now.checked_add(SOON)?;
    let soon = found
        .iter()
        .filter(|(modified, _)| modified.checked_add(kept).is_some_and(|goes| goes <= limit));
    Some(Expiring {
        agent: "Claude Code",
        folder: projects,
        days,
        by,
        transcripts: (found.len(), soon.count()),
        oldest,
        goes,
    })
}

impl Expiring {
    /// Whether one of them goes within a week.
    pub fn is_soon(&self) -> bool {
        self.transcripts.1 > 0
    }
}

fn days(path: &Path) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let root = CstRootNode::parse(&text, &ParseOptions::default()).ok()?;
    let value = root.object_value()?.get("cleanupPeriodDays")?.value()?;
    value.as_number_lit()?.to_string().trim().parse().ok()
}

fn transcripts(folder: &Path, depth: usize, found: &mut Vec<(SystemTime, PathBuf)>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else {
            continue;
        };
        if found.len() >= LOOKED_AT {
            return;
        }
        if kind.is_dir() && depth > 0 {
            transcripts(&path, depth - 1, found);
        } else if kind.is_file()
            && path.extension().is_some_and(|ending| ending == "jsonl")
            && let Ok(modified) = entry.metadata().and_then(|about| about.modified())
        {
            found.push((modified, path));
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn transcript(folder: &Path, name: &str, modified: SystemTime) {
        let project = folder.join("projects/shop");
        fs::create_dir_all(&project).unwrap();
        let file = fs::File::create(project.join(name)).unwrap();
        file.set_modified(modified).unwrap();
    }

    #[test]
    fn the_oldest_transcript_and_when_it_goes() {
        let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let now = SystemTime::UNIX_EPOCH + DAY * 20_000;
        assert_eq!(claude(home.path(), project.path(), now), None);
        transcript(home.path(), "old.jsonl", now - DAY * 25);
        transcript(home.path(), "new.jsonl", now - DAY);
        let expiring = claude(home.path(), project.path(), now).unwrap();
        assert_eq!((expiring.days, &expiring.by), (30, &None));
        assert_eq!(expiring.transcripts, (2, 1));
        assert_eq!(expiring.goes, now + DAY * 5);
        assert!(expiring.oldest.ends_with("old.jsonl") && expiring.is_soon());

        fs::write(
            home.path().join("settings.json"),
            "{ // mine\n \"cleanupPeriodDays\": 365 }",
        )
        .unwrap();
        let expiring = claude(home.path(), project.path(), now).unwrap();
        assert_eq!((expiring.days, expiring.is_soon()), (365, false));
        // A project's settings say otherwise.
        fs::create_dir(project.path().join(".claude")).unwrap();
        fs::write(
            project.path().join(".claude/settings.json"),
            "{\"cleanupPeriodDays\": 7}",
        )
        .unwrap();
        let expiring = claude(home.path(), project.path(), now).unwrap();
        assert_eq!((expiring.days, expiring.transcripts), (7, (2, 2)));
    }
}
