//! Drafts are noticed as they are written, and not before they are whole.

use std::fs;
use std::time::{Duration, Instant};

use annals_dialects::forge::{DraftOptions, DraftWatch, Drafted, take_draft};
use annals_dialects::secrets::{Redactions, Secrets};
use futures::executor::block_on;

use super::{Forge, author, log};

const MOMENT: Duration = Duration::from_secs(1);

fn names(watch: &mut DraftWatch, at: Instant) -> Vec<String> {
    let ready = watch.ready(at).unwrap();
    ready.drafts.into_iter().map(|draft| draft.name).collect()
}

#[test]
fn a_draft_is_ready_once_it_stays_as_it_is() {
    let forge = Forge::of(&[("intent-drafts/a.md", "A\n")]);
    let mut watch = DraftWatch::start(forge.path()).unwrap();
    let start = Instant::now();
    let ready = watch.ready(start).unwrap();
    assert_eq!(ready.drafts.len(), 0);
    assert!(ready.again < MOMENT, "{:?}", ready.again);
    // Somebody goes on writing.
    forge.put("intent-drafts/a.md", "A\n\nmore\n");
    assert_eq!(names(&mut watch, start + MOMENT), Vec::<String>::new());
    assert_eq!(names(&mut watch, start + MOMENT * 2), ["a"]);
    // Once, until it changes.
    assert_eq!(names(&mut watch, start + MOMENT * 3), Vec::<String>::new());
    forge.put("intent-drafts/a.md", "A\n\nmore and more\n");
    names(&mut watch, start + MOMENT * 4);
    assert_eq!(names(&mut watch, start + MOMENT * 5), ["a"]);
}

#[test]
fn a_draft_of_which_nothing_became_is_given_again() {
    let forge = Forge::of(&[("intent-drafts/a.md", "A\n")]);
    let mut watch = DraftWatch::start(forge.path()).unwrap();
    let start = Instant::now();
    watch.ready(start).unwrap();
    let ready = watch.ready(start + MOMENT).unwrap();
    watch.forget(&ready.drafts[0]);
    assert_eq!(names(&mut watch, start + MOMENT), ["a"]);
}

#[test]
fn the_system_says_when_a_draft_comes() {
    let forge = Forge::new();
    // The folder for drafts is made.
    let mut watch = DraftWatch::start(forge.path()).unwrap();
    let folder = forge.file("intent-drafts");
    let writer = std::thread::spawn(move || fs::write(folder.join("a.md"), "A\n\nb\n").unwrap());
    block_on(watch.changed());
    writer.join().unwrap();
    let start = Instant::now();
    names(&mut watch, start);
    assert_eq!(names(&mut watch, start + MOMENT), ["a"]);
}

#[test]
fn a_draft_that_changes_while_it_is_taken_is_not_lost() {
    let forge = Forge::of(&[("intent-drafts/a.md", "A\n\nfirst\n")]);
    let annals = log();
    let options = |keep| DraftOptions {
        author: author(),
        keep,
        secrets: Secrets::standard(),
    };
    let mut watch = DraftWatch::start(forge.path()).unwrap();
    let start = Instant::now();
    watch.ready(start).unwrap();
    let draft = watch.ready(start + MOMENT).unwrap().drafts.remove(0);
    block_on(take_draft(
        &annals,
        &draft,
        &options(true),
        &mut Redactions::default(),
    ))
    .unwrap();
    // It is on disk, and before its file goes somebody saves another text.
    forge.put("intent-drafts/a.md", "A\n\nsecond\n");
    let taken = block_on(take_draft(
        &annals,
        &draft,
        &options(false),
        &mut Redactions::default(),
    ))
    .unwrap();
    assert!(matches!(taken, Drafted::Exists { .. }), "{taken:?}");
    assert_eq!(forge.get("intent-drafts/a.md"), "A\n\nsecond\n");
    // Somebody took it away.
    fs::remove_file(forge.file("intent-drafts/a.md")).unwrap();
    let taken = block_on(take_draft(
        &annals,
        &draft,
        &options(false),
        &mut Redactions::default(),
    ))
    .unwrap();
    assert!(matches!(taken, Drafted::Gone), "{taken:?}");
}

#[test]
fn to_look_at_the_folder_is_no_change() {
    use futures::FutureExt;
    let forge = Forge::of(&[("intent-drafts/a.md", "A\n\nb\n")]);
    let mut watch = DraftWatch::start(forge.path()).unwrap();
    for _ in 0..3 {
        watch.ready(Instant::now()).unwrap();
        fs::read(forge.file("intent-drafts/a.md")).unwrap();
        std::thread::sleep(Duration::from_millis(100));
        assert!(watch.changed().now_or_never().is_none());
    }
}
