//! What a log's files say, whether or not it opens.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use annals::event_log::Position;
use annals::store_rocks::{Behind, Examined, OpenError, Tail, Written};
use annals::store_shared::Sharing;

use super::{Check, State};
use crate::output::bytes;

/// Bytes below which it is only a matter of time until an append fails: RocksDB writes
/// its tables next to those that they replace.
const LITTLE: u64 = 256 * 1024 * 1024;

pub(super) const RESTORE: &str =
    "restore the log from a backup: `annals --log NEW log restore BACKUP`";

/// All checks of the files.
pub(super) fn checks(path: &Path, examined: &Examined) -> Vec<Check> {
    let mut checks = vec![identity(path, examined)];
    if examined.identity.is_ok() {
        checks.extend(mount(examined));
        checks.extend(permissions(path));
        checks.extend(named(path));
        checks.push(writer(examined.written));
        checks.push(watermark(examined));
        checks.extend(tail(&examined.tail, examined.acknowledged));
    }
    checks.extend(disk(examined));
    let leftovers = examined.leftovers.iter().map(|leftover| {
        let what = format!("{}: {}", leftover.path.display(), leftover.what);
        Check::new("leftovers", State::Note, what).remedy("remove it if it is not needed")
    });
    checks.extend(leftovers);
    checks
}

fn identity(path: &Path, examined: &Examined) -> Check {
    match &examined.identity {
        Ok(id) => Check::new("log", State::Ok, format!("{id}, in {}", path.display())),
        Err(error) => failed("log", error),
    }
}

/// Whether the log's file system takes writes.
fn mount(examined: &Examined) -> Option<Check> {
    let what = "its file system is mounted read-only: the log can be read, and nothing is recorded";
    let remedy = "mount it for writing, or copy the log elsewhere with `annals log backup`";
    let check = Check::new("mount", State::Note, what).remedy(remedy);
    examined.is_read_only.then_some(check)
}

/// Who else can look into the log.
fn permissions(path: &Path) -> Option<Check> {
    let mode = fs::metadata(path).ok()?.permissions().mode() & 0o777;
    // With a list the mode does not say what the group has.
    let listed = annals_files::listed(path).ok().flatten();
    let group = listed.map_or(mode & 0o070 != 0, |listed| listed.groups);
    let who = match (group, mode & 0o007) {
        (false, 0) => return None,
        (true, 0) => "its group",
        _ => "every user of this machine",
    };
    let what = format!("{who} can look into the log's folder (its mode is {mode:04o})");
    let path = path.display();
    let remedy = format!("if that is not wanted: chmod -R go= {path}");
    Some(Check::new("permissions", State::Note, what).remedy(remedy))
}

/// Which other users are named to write to the log, or just have rights on its folder.
fn named(path: &Path) -> Vec<Check> {
    let note =
        |what: String, remedy: String| Check::new("permissions", State::Note, what).remedy(remedy);
    let sharing = match Sharing::of(path) {
        Ok(sharing) => sharing,
        Err(error) => {
            let what = format!("no other user may write to the log: {error}");
            let remedy = "remove the file SHARE, and name them again with `annals log share-with --with USER`";
            return vec![Check::new("permissions", State::Problem, what).remedy(remedy)];
        }
    };
    let listed = annals_files::listed(path).ok().flatten();
    let listed = listed.map(|it| it.users).unwrap_or_default();
    let lost = sharing.users.iter().filter(|it| !listed.contains(it));
    let lost = lost.map(|user| {
        let what = format!("{user} is named to write to the log, and has no rights on its folder");
        note(
            what,
            format!("`annals log share-with --with {}` gives them", user.0),
        )
    });
    let users = listed
        .iter()
        .map(|user| match sharing.users.contains(user) {
            true => {
                let what = format!("{user} may read the log, and write to it by way of its owner");
                note(
                    what,
                    format!(
                        "if that is not wanted: annals log share-with --without {}",
                        user.0
                    ),
                )
            }
            false => {
                let what = format!("{user} can look into the log's folder");
                note(
                    what,
                    format!(
                        "if that is not wanted: annals log share-with --without {}",
                        user.0
                    ),
                )
            }
        });
    lost.chain(users).collect()
}

/// Why the store refused, and what helps.
fn failed(name: &'static str, error: &OpenError) -> Check {
    use OpenError as E;
    let state = match error {
        E::Corrupt { .. } | E::MissingColumnFamily { .. } => State::Corrupt,
        _ => State::Problem,
    };
    let remedy = match error {
        E::NotFound { .. } => {
            "name another place with --log, or create a log with `annals log init`"
        }
        E::CreationInterrupted { .. } => "complete it with `annals log init`",
        E::NotALog { .. } => "name a log with --log",
        E::NewerFormat { .. } => "use the version of this program that wrote it, or a newer one",
        E::Corrupt { .. } | E::MissingColumnFamily { .. } => error.remedy().unwrap_or(RESTORE),
        E::NoPermission { .. } => "give this user the permission, or use another user",
        E::DiskFull { .. } => "free some space",
        E::TooManyFiles { .. } => "raise the limit (ulimit -n)",
        _ => "see that the disk can be read, and try again",
    };
    Check::new(name, state, error.finding()).remedy(remedy)
}

fn writer(written: Written) -> Check {
    let (state, what) = match written {
        Written::Now => (
            State::Note,
            "another process has the log open for writing, so the end of the log was not checked",
        ),
        Written::No => (State::Ok, "no process has the log open for writing"),
        Written::Unknown => (
            State::Note,
            "it cannot be known whether a process writes to the log",
        ),
    };
    Check::new("writer", state, what)
}

fn watermark(examined: &Examined) -> Check {
    if let Some(position) = examined.acknowledged {
        let what = format!("everything up to position {position} was acknowledged");
        return Check::new("watermark", State::Ok, what);
    }
    let what = "the file WATERMARK is missing or damaged: readers cannot know what is durable";
    let remedy = match examined.tail {
        Tail::Damaged { .. } | Tail::Unreadable(_) => RESTORE,
        Tail::Sound(_) | Tail::Unknown => {
            "open the log once for writing, which creates it again: `annals service apply /dev/null`"
        }
    };
    Check::new("watermark", State::Corrupt, what).remedy(remedy)
}

fn tail(tail: &Tail, acknowledged: Option<Position>) -> Option<Check> {
    let check = |state, what: String| Check::new("end", state, what);
    Some(match tail {
        Tail::Unknown => return None,
        Tail::Unreadable(error) => failed("end", error),
        Tail::Sound(last) => match acknowledged {
            Some(acknowledged) if acknowledged > *last => check(
                State::Corrupt,
                format!("{acknowledged} records were acknowledged, but the log ends at {last}"),
            )
            .remedy(RESTORE),
            Some(acknowledged) if acknowledged < *last => check(
                State::Note,
                format!(
                    "the records up to {last} are whole, but it is not known whether those behind \
                     {acknowledged} are durable; readers do not show them"
                ),
            )
            .remedy(
                "the next command that writes makes them durable: `annals service apply /dev/null`",
            ),
            _ => check(
                State::Ok,
                format!(
                    "the log's end can be read, at position {last}; `annals proof verify` reads all of it"
                ),
            ),
        },
        Tail::Damaged {
            last,
            damage,
            behind,
        } => {
            let what = format!("behind position {last} the log cannot be read: {damage}");
            check(State::Corrupt, what).remedy(remedy_of_damage(*last, *behind, acknowledged))
        }
    })
}

/// What to do about a damage behind a position.
fn remedy_of_damage(
    last: Position,
    behind: Behind,
    acknowledged: Option<Position>,
) -> &'static str {
    let end = match behind {
        Behind::Nothing | Behind::Creation => Some(last),
        Behind::Everything(end) => Some(end),
        Behind::Something => None,
    };
    match (end, acknowledged) {
        (Some(end), Some(acknowledged)) if acknowledged <= end => match behind {
            Behind::Everything(_) => {
                "every record is there without what is damaged: `annals doctor --truncate-tail` removes that"
            }
            Behind::Creation => {
                "it is damaged where it was created, and no record was acknowledged: move it away, and create it \
                 again with `annals log init`"
            }
            _ => "nothing behind it was acknowledged: `annals doctor --truncate-tail` removes it",
        },
        _ => RESTORE,
    }
}

fn disk(examined: &Examined) -> Option<Check> {
    let free = examined.free?;
    let used = examined.bytes.unwrap_or_default();
    let what = match examined.bytes {
        Some(used) => format!("{} are free, the log has {}", bytes(free), bytes(used)),
        None => format!("{} are free", bytes(free)),
    };
    let check = |state| Check::new("disk", state, what);
    Some(if free < LITTLE {
        check(State::Problem).remedy("free some space: appends fail when there is none")
    } else if free < used {
        check(State::Note).remedy("a copy of the log, or compacting all of it, needs more space")
    } else {
        check(State::Ok)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(tail: Tail, acknowledged: Option<u64>) -> (State, Option<String>) {
        let check = super::tail(&tail, acknowledged.map(Position));
        let check = check.expect("a check");
        (check.state, check.remedy)
    }

    #[test]
    fn the_end_is_judged_by_what_was_acknowledged() {
        let sound = |last| Tail::Sound(Position(last));
        assert_eq!(state(sound(5), Some(5)).0, State::Ok);
        assert_eq!(state(sound(6), Some(5)).0, State::Note);
        assert_eq!(state(sound(4), Some(5)).0, State::Corrupt);
        let damaged = |behind| Tail::Damaged {
            last: Position(5),
            damage: "bad checksum".into(),
            behind,
        };
        let truncates = |behind, acknowledged| {
            let (state, remedy) = state(damaged(behind), acknowledged);
            assert_eq!(state, State::Corrupt);
            remedy.is_some_and(|remedy| remedy.contains("--truncate-tail"))
        };
        let nothing = Behind::Nothing;
        assert!(truncates(nothing, Some(5)) && truncates(nothing, Some(4)));
        assert!(!truncates(nothing, Some(6)) && !truncates(nothing, None));
        let everything = Behind::Everything(Position(7));
        assert!(truncates(everything, Some(7)) && !truncates(everything, Some(8)));
        assert!(!truncates(Behind::Something, Some(5)));
        assert!(!truncates(Behind::Creation, Some(5)));
    }

    #[test]
    fn little_space_is_a_problem() {
        let examined = |free| Examined {
            identity: Ok(uuid::Uuid::nil()),
            acknowledged: None,
            written: Written::No,
            tail: Tail::Unknown,
            bytes: Some(4 * LITTLE),
            free: Some(free),
            is_read_only: false,
            leftovers: Vec::new(),
        };
        let state = |free| disk(&examined(free)).map(|check| check.state);
        assert_eq!(state(LITTLE - 1), Some(State::Problem));
        assert_eq!(state(LITTLE), Some(State::Note));
        assert_eq!(state(5 * LITTLE), Some(State::Ok));
    }
}
