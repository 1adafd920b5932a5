//! Drafts are noticed as they are written, and not before they are whole.

use std::fs;
use std::time::{Duration, Instant};

use annals::At;
use annals::projections::ListQuery;
use annals_dialects::forge::{
    DraftOptions, DraftWatch, Drafted, IntentBecame, IntentEntry, take_draft, take_intents,
};
use annals_dialects::secrets::{Redactions, Secrets};
use annals_domain::intent::ApprovalStatus;
use annals_domain::{IntentId, Kind};
use futures::executor::block_on;

use super::{Forge, author, log, log_of};

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
    // A person goes on writing.
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
fn the_folder_is_looked_at_every_5_seconds_in_any_case() {
    let forge = Forge::of(&[("intent-drafts/a.md", "A\n")]);
    let mut watch = DraftWatch::start(forge.path()).unwrap();
    let start = Instant::now();
    watch.ready(start).unwrap();
    for (later, drafts) in [(1_u32, 1), (2, 0)] {
        let ready = watch.ready(start + MOMENT * later).unwrap();
        assert_eq!(ready.drafts.len(), drafts);
        assert_eq!(ready.again, Duration::from_secs(5));
    }
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
    let options = |keep| {
        DraftOptions::new(author())
            .with_keep(keep)
            .with_secrets(Secrets::standard())
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
    // It is on disk, and before its file is removed another text is saved.
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
    // Its file was removed.
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

fn intents(watch: &mut DraftWatch, at: Instant) -> Vec<IntentEntry> {
    watch.ready(at).unwrap().intents
}

fn intent_names(watch: &mut DraftWatch, at: Instant) -> Vec<String> {
    let ready = intents(watch, at);
    ready.iter().map(|it| it.name().to_owned()).collect()
}

const INTENT: &str = "title: t\nbody: b\nsource: audit\n";

#[test]
fn an_agents_intent_is_ready_once_it_stays_as_it_is() {
    let forge = Forge::of(&[
        ("intents/a.yaml", INTENT),
        ("intents/.b.yaml", INTENT),
        ("intents/c.txt", INTENT),
    ]);
    let mut watch = DraftWatch::start(forge.path()).unwrap();
    let start = Instant::now();
    assert_eq!(intent_names(&mut watch, start), Vec::<String>::new());
    // A person goes on writing.
    forge.put("intents/a.yaml", format!("{INTENT}risk: low\n"));
    assert_eq!(
        intent_names(&mut watch, start + MOMENT),
        Vec::<String>::new()
    );
    let ready = intents(&mut watch, start + MOMENT * 2);
    assert_eq!((ready.len(), ready[0].name()), (1, "a"));
    // Once, until it changes, or nothing became of it.
    assert_eq!(
        intent_names(&mut watch, start + MOMENT * 3),
        Vec::<String>::new()
    );
    watch.forget_intent(&ready[0]);
    assert_eq!(intent_names(&mut watch, start + MOMENT * 3), ["a"]);
    forge.put("intents/a.yaml", format!("{INTENT}risk: high\n"));
    intents(&mut watch, start + MOMENT * 4);
    assert_eq!(intent_names(&mut watch, start + MOMENT * 5), ["a"]);
}

#[test]
fn the_system_says_when_an_intent_comes() {
    let forge = Forge::new();
    let mut watch = DraftWatch::start(forge.path()).unwrap();
    let folder = forge.file("intents");
    let writer = std::thread::spawn(move || fs::write(folder.join("a.yaml"), INTENT).unwrap());
    block_on(watch.changed());
    writer.join().unwrap();
    let start = Instant::now();
    intents(&mut watch, start);
    assert_eq!(intent_names(&mut watch, start + MOMENT), ["a"]);
}

/// All that is ready, taken.
fn take_all(forge: &Forge, annals: &annals::Annals) -> Vec<(String, IntentBecame)> {
    let mut watch = DraftWatch::start(forge.path()).unwrap();
    let start = Instant::now();
    intents(&mut watch, start);
    let ready = intents(&mut watch, start + MOMENT);
    let secrets = Secrets::standard();
    let taken = block_on(take_intents(annals, watch.folder(), &ready, &secrets)).unwrap();
    let name = |path: &std::path::Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let files = taken.files.into_iter();
    files.map(|(path, became)| (name(&path), became)).collect()
}

#[test]
fn one_bad_intent_does_not_hold_the_others_and_each_is_taken_once() {
    let forge = Forge::of(&[
        ("intents/a.yaml", &format!("{INTENT}risk: low\n")),
        ("intents/b.yaml", "title: [x\n"),
        ("intents/c.yaml", &format!("{INTENT}parent: later\n")),
    ]);
    let annals = log();
    let taken = take_all(&forge, &annals);
    assert!(matches!(&taken[0].1, IntentBecame::Recorded { remarks, .. } if remarks.is_empty()));
    assert!(
        matches!(&taken[1].1, IntentBecame::Broken { line: 1, .. }),
        "{taken:?}"
    );
    assert!(matches!(&taken[2].1, IntentBecame::Recorded { remarks, .. } if remarks.len() == 1));
    // What a killed watch took is known again.
    let events = block_on(annals.index().list(&ListQuery::new(Kind::Intent))).unwrap();
    let taken = take_all(&forge, &annals);
    assert!(
        matches!(taken[0].1, IntentBecame::Known { .. }),
        "{taken:?}"
    );
    assert!(
        matches!(taken[2].1, IntentBecame::Known { .. }),
        "{taken:?}"
    );
    assert_eq!(
        block_on(annals.index().list(&ListQuery::new(Kind::Intent))).unwrap(),
        events
    );
    // The whole comes after its part, and knows it.
    fs::remove_file(forge.file("intents/c.yaml")).unwrap();
    forge.put("intents/later.yaml", INTENT);
    forge.put(
        "intents/a.yaml",
        format!("{INTENT}risk: low\nstatus: executing\n"),
    );
    let taken = take_all(&forge, &annals);
    assert!(
        matches!(taken[0].1, IntentBecame::BroughtOn { .. }),
        "{taken:?}"
    );
    let IntentBecame::Recorded { intent, .. } = taken[2].1 else {
        panic!("{taken:?}");
    };
    let view = block_on(annals.inbox().forge_intent(intent, At::Now)).unwrap();
    let part = IntentId(block_on(annals.resolve("c")).unwrap().id);
    assert_eq!(view.children, [part]);
    super::check_rows(&annals);
}

#[test]
fn what_a_file_says_that_does_not_count_is_said_whenever_it_is_taken() {
    let audit = |more: &str| format!("title: t\nbody: b\nsource: audit\n{more}");
    let forge = Forge::of(&[("intents/a.yaml", &audit("risk: high\nstatus: approved\n"))]);
    let annals = log();
    let approval = "an agent's own word does not approve it";
    let became = |forge: &Forge| take_all(forge, &annals)[0].1.clone();
    let first = became(&forge);
    assert!(matches!(first, IntentBecame::Recorded { .. }), "{first:?}");
    assert!(first.to_string().contains(approval), "{first}");
    let again = became(&forge);
    assert!(matches!(again, IntentBecame::Left { .. }), "{again:?}");
    assert!(again.to_string().contains(approval), "{again}");
    forge.put("intents/a.yaml", audit("risk: low\ntype: fix\n"));
    let on = became(&forge);
    assert!(matches!(on, IntentBecame::BroughtOn { .. }), "{on:?}");
    let risk = "its file says low, and the log has the risk high, which counts";
    assert!(on.to_string().contains(risk), "{on}");
    // What says no risk says nothing else.
    forge.put("intents/a.yaml", audit("type: fix\n"));
    let silent = became(&forge);
    assert!(matches!(silent, IntentBecame::Known { .. }), "{silent:?}");
    // And why it is left in the first place is said first.
    forge.put(
        "intents/a.yaml",
        audit("risk: low\ntype: fix\n").replace("title: t", "title: u"),
    );
    let left = became(&forge).to_string();
    assert!(
        left.starts_with("it is in the log already, where title"),
        "{left}"
    );
    assert!(left.contains(risk), "{left}");
}

#[test]
fn what_an_export_wrote_is_no_news() {
    let forge = Forge::of(&[("intents/a.yaml", INTENT)]);
    let annals = log();
    take_all(&forge, &annals);
    fs::remove_file(forge.file("intents/a.yaml")).unwrap();
    forge.export(&annals);
    assert_eq!(
        take_all(&forge, &annals),
        [("a".to_owned(), IntentBecame::Exported)]
    );
    // One that was changed since is.
    let text = forge.get("intents/a.yaml") + "risk: high\n";
    forge.put("intents/a.yaml", text);
    let taken = take_all(&forge, &annals);
    assert!(
        matches!(taken[0].1, IntentBecame::BroughtOn { .. }),
        "{taken:?}"
    );
    // And so is one that another log wrote.
    let other = log_of(2);
    let taken = take_all(&forge, &other);
    assert!(
        matches!(taken[0].1, IntentBecame::Recorded { .. }),
        "{taken:?}"
    );
}

/// More files come at once than are recorded together.
#[test]
fn of_a_batch_parents_and_dependencies_come_first_and_no_whole_is_done_before_its_parts() {
    let forge = Forge::of(&[
        // In the order of their names each comes before what it names, or is named by.
        (
            "intents/a-whole.yaml",
            &format!("{INTENT}risk: low\nstatus: done\n"),
        ),
        (
            "intents/b-waits.yaml",
            &format!("{INTENT}depends_on: [z-needed]\n"),
        ),
        ("intents/c-part.yaml", &format!("{INTENT}parent: z-whole\n")),
        (
            "intents/z-part.yaml",
            &format!("{INTENT}parent: a-whole\nrisk: low\nstatus: executing\n"),
        ),
        ("intents/z-needed.yaml", INTENT),
        (
            "intents/z-whole.yaml",
            &format!("{INTENT}risk: low\nstatus: done\n"),
        ),
    ]);
    for number in 0..120 {
        forge.put(&format!("intents/m{number:03}.yaml"), INTENT);
    }
    let annals = log();
    let taken = take_all(&forge, &annals);
    assert!(taken.is_sorted_by(|a, b| a.0 < b.0), "as they were given");
    for (name, became) in &taken {
        let IntentBecame::Recorded { remarks, .. } = became else {
            panic!("{name}: {became:?}")
        };
        assert_eq!(remarks, &Vec::<String>::new(), "{name}");
    }
    let id = |name: &str| IntentId(block_on(annals.resolve(name)).unwrap().id);
    let status = |name: &str| block_on(annals.inbox().status_at(id(name), At::Now)).unwrap();
    for (whole, part) in [("a-whole", "z-part"), ("z-whole", "c-part")] {
        let view = block_on(annals.inbox().forge_intent(id(whole), At::Now)).unwrap();
        assert_eq!(view.children, [id(part)]);
        assert_eq!(status(whole), ApprovalStatus::Executing, "{whole}");
        let history = block_on(annals.history(id(whole))).unwrap();
        let done = history
            .iter()
            .any(|entry| entry.event_type == "intent.completed");
        assert!(!done, "{whole} is done for ever before its part");
    }
    super::check_rows(&annals);
    assert_eq!(take_all(&forge, &annals).len(), 126);
}
