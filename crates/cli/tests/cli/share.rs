//! A log that other users write to. Only root runs processes of two others.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use annals::OpenOptions;
use annals::store_rocks::Options;
use annals_testkit::generators::objects;
use futures::executor::block_on;
use serde_json::{Value, json};

use crate::support::{Place, Ran, Running, wait_for};

/// Whose log it is, who is let in, and who is not. No machine has them.
const ADA: u32 = 54_331;
const AGENT: u32 = 54_332;
const EVE: u32 = 54_333;

/// A place that others can reach, with the program in it.
fn shared() -> Option<Place> {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        eprintln!("NOT RUN: only root runs processes of other users");
        assert!(std::env::var_os("CI").is_none(), "it has to run in CI");
        return None;
    }
    let place = Place::empty();
    let open = |name: &str, mode| {
        fs::set_permissions(place.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    open("", 0o755);
    fs::create_dir(place.path("tmp")).unwrap();
    open("tmp", 0o777);
    fs::create_dir(place.path("ada")).unwrap();
    chown(place.path("ada"), Some(ADA), Some(ADA)).unwrap();
    // Where it was built, others may not look.
    copy(
        Path::new(env!("CARGO_BIN_EXE_annals")),
        &place.path("program"),
    );
    by(&place, ADA, &["init"]).ok();
    Some(place)
}

/// Copies a program. Where this process wrote it, one that another test starts meanwhile would have the file open for a
/// moment, and nothing could run it.
fn copy(program: &Path, to: &Path) {
    let copied = Command::new("cp").arg(program).arg(to).status().unwrap();
    assert!(copied.success());
}

/// The program, about to run as another user, with a mask that leaves nothing to others.
fn command(place: &Place, user: u32, args: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", "umask 077; exec \"$@\"", "sh"])
        .arg(place.path("program"))
        .args(args)
        .current_dir(place.path("tmp"))
        .env("ANNALS_LOG", "../ada/log")
        .env("ANNALS_ACTOR", "ada")
        .env("HOME", place.path("tmp"))
        .env("TMPDIR", place.path("tmp"))
        .uid(user)
        .gid(user)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn by(place: &Place, user: u32, args: &[&str]) -> Ran {
    Ran::of(command(place, user, args).output().unwrap())
}

fn serve(place: &Place) -> Running {
    let mut serving = Running::of(command(place, ADA, &["serve", "--record-only", "--json"]));
    assert_eq!(serving.next()["state"], "owner");
    serving
}

#[test]
fn another_user_is_let_in_works_and_is_kept_out() {
    let Some(place) = shared() else { return };
    let (ada, agent, eve) = (ADA.to_string(), AGENT.to_string(), EVE.to_string());
    let serving = serve(&place);
    by(&place, ADA, &["submit", "Add a cache"]).ok();
    let shown = by(&place, ADA, &["log", "share-with", "--json"])
        .ok()
        .json();
    assert_eq!(shown["owner"], json!({ "user": ADA, "name": Value::Null }));
    assert_eq!(shown["others"], json!([]));
    let submit = ["submit", "Mend the parser"];
    let refused = by(&place, AGENT, &submit);
    refused.fails(
        1,
        &[
            "may not write to the log",
            &format!("annals log share-with --with {agent}"),
        ],
    );

    // It is the log's user who says so, by name or number.
    by(&place, AGENT, &["share", "--with", &agent]).fails(1, &["ermission denied"]);
    by(&place, ADA, &["share", "--with", "no-such-user"]).fails(1, &["no user \"no-such-user\""]);
    by(&place, ADA, &["share", "--with", &ada]).fails(1, &["in any case"]);
    by(&place, ADA, &["share", "--with", "root"]).fails(1, &["root (0)", "in any case"]);
    let shown = by(&place, ADA, &["share", "--with", &agent, "--json"]).ok();
    assert_eq!(shown.json()["others"][0]["user"], AGENT);

    let submitted = by(&place, AGENT, &submit).ok();
    assert!(
        submitted.stdout.contains("Mend the parser"),
        "{submitted:?}"
    );
    for read in [
        ["list", "intents"].as_slice(),
        &["log"],
        &["inbox"],
        &["log", "share-with"],
        &["verify"],
    ] {
        let shown = by(&place, AGENT, read).ok().stdout;
        assert!(!shown.is_empty(), "{read:?}");
    }
    assert_eq!(
        by(&place, AGENT, &["list", "intents", "--json"])
            .ok()
            .lines()
            .len(),
        2
    );
    for refused in [submit.as_slice(), &["list", "intents"]] {
        assert_eq!(by(&place, EVE, refused).status, 1);
    }
    let said = by(&place, ADA, &["doctor"]).ok().stdout;
    assert!(
        said.contains(&format!("user {agent} may read the log, and write to it")),
        "{said}"
    );
    assert!(!said.contains("its group"), "{said}");

    // It takes no owner's place, and says what it waits for.
    let served = by(&place, AGENT, &["serve", "--record-only"]);
    served.fails(1, &["cannot own the log"]);
    serving.end();
    let refused = by(&place, AGENT, &["submit", "x", "--json"]).fails(1, &["serve --record-only"]);
    assert_eq!(refused.error_code(), "owner_unreachable");
    // Its own files are those that the log's user makes, whatever the mask is.
    let serving = serve(&place);
    by(&place, AGENT, &submit).ok();
    by(&place, ADA, &["share", "--without", &agent, "--with", &eve]).ok();
    let refused = by(&place, AGENT, &["submit", "x", "--json"]).fails(1, &[]);
    assert_eq!(refused.error_code(), "not_named");
    by(&place, EVE, &submit).ok();
    by(&place, ADA, &["share", "--without", &eve]).ok();
    serving.end();
    is_private(&place.path("ada/log"));
    by(&place, ADA, &["verify"]).ok();
}

#[track_caller]
fn is_private(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mode = fs::metadata(&path).unwrap().mode();
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
    }
}

#[test]
fn a_folder_above_that_keeps_others_out_is_named() {
    let Some(place) = shared() else { return };
    fs::set_permissions(place.path("ada"), fs::Permissions::from_mode(0o700)).unwrap();
    let said = by(&place, ADA, &["share", "--with", &AGENT.to_string()]).fails(0, &["setfacl"]);
    assert!(said.stderr.contains("ada"), "{}", said.stderr);
}

/// A hook of another user writes to the log by way of its owner. The spool beside it is its user's: where there is no
/// owner, the hook says that its event is lost, and does not fail.
#[test]
fn hooks_of_another_user_go_to_the_owner_or_say_that_their_event_is_lost() {
    let Some(place) = shared() else { return };
    by(&place, ADA, &["share", "--with", &AGENT.to_string()]).ok();
    let serving = serve(&place);
    let bell = place.path("ada/log.spool/bell");
    wait_for(|| bell.exists());
    let tell = |id: &str| {
        let event = json!({
            "hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt_id": id, "prompt": "Mend it",
            "cwd": "/", "transcript_path": "/t", "permission_mode": "default",
        });
        fs::write(place.path("tmp/event"), event.to_string()).unwrap();
        let mut hook = command(&place, AGENT, &["hook", "claude", "--deadline", "30000"]);
        hook.stdin(fs::File::open(place.path("tmp/event")).unwrap());
        Ran::of(hook.output().unwrap())
    };
    let ran = tell("p1").ok();
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    let intents = ["list", "intents", "--json"];
    assert_eq!(by(&place, ADA, &intents).ok().lines().len(), 1);
    serving.end();
    let said = tell("p2").fails(0, &["is lost", "not this user's own folder"]);
    assert_eq!(said.stdout, "", "nothing for the agent");
    assert_eq!(by(&place, ADA, &intents).ok().lines().len(), 1);
}

/// Rows that are far behind are folded in memory by a user who writes by way of an owner, without a wait for one.
#[test]
fn rows_that_are_far_behind_do_not_wait_for_an_owner() {
    let Some(place) = shared() else { return };
    let log = place.path("ada/log");
    let store = Options::default().with_sync(false);
    let annals = OpenOptions::new().store(store);
    let annals = annals.open(log.to_str().unwrap()).unwrap();
    for append in objects::sample(7, 30_000).appends() {
        block_on(annals.log().append(append)).unwrap();
    }
    block_on(annals.close());
    for entry in fs::read_dir(&log).unwrap() {
        chown(entry.unwrap().path(), Some(ADA), Some(ADA)).unwrap();
    }
    by(
        &place,
        ADA,
        &["log", "share-with", "--with", &AGENT.to_string()],
    )
    .ok();
    let list = ["object", "list", "intents", "--json"];
    by(&place, AGENT, &["object", "list", "intents"]).fails(0, &["events behind the log"]);
    let before = by(&place, AGENT, &list).ok().lines().len();
    assert!(before > 0);
    // The log's user updates them, and nothing is behind.
    assert_eq!(by(&place, ADA, &list).ok().lines().len(), before);
    assert_eq!(by(&place, AGENT, &list).ok().lines().len(), before);
}
