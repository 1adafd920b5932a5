//! Drafts are proposed once, and their files go once that is on disk.

use std::fs;

use annals::{Annals, At, Request};
use annals_dialects::forge::{DraftOptions, DraftWatch, Drafted, take_draft};
use annals_dialects::secrets::{Redactions, Secrets};
use annals_domain::IntentId;
use annals_domain::alias::ReserveAlias;
use annals_domain::intent::{ApprovalStatus, RejectIntent, Source, SubmitIntent};
use futures::executor::block_on;

use super::{Forge, author, broken, log, passed_over};

const DRAFT: &str = "Crash on save\n\nIt crashes.\n";

fn taking(keep: bool) -> DraftOptions {
    DraftOptions::new(author())
        .with_keep(keep)
        .with_secrets(Secrets::standard())
}

/// What becomes of the drafts of a folder.
fn take(annals: &Annals, forge: &Forge, keep: bool) -> Vec<Drafted> {
    let mut watch = DraftWatch::start(forge.path()).unwrap();
    let now = std::time::Instant::now();
    watch.ready(now).unwrap();
    let later = now + std::time::Duration::from_secs(60);
    let drafts = watch.ready(later).unwrap().drafts.into_iter();
    drafts
        .map(|draft| {
            block_on(take_draft(
                annals,
                &draft,
                &taking(keep),
                &mut Redactions::default(),
            ))
            .unwrap()
        })
        .collect()
}

fn intents(annals: &Annals) -> usize {
    let query = annals::projections::ListQuery::new(annals_domain::Kind::Intent);
    block_on(annals.index().list(&query)).unwrap().rows.len()
}

#[test]
fn a_draft_becomes_a_proposal_of_its_author_and_its_file_goes() {
    let forge = Forge::of(&[("intent-drafts/crash.md", DRAFT)]);
    let annals = log();
    let taken = take(&annals, &forge, false);
    let [Drafted::Proposed { intent, alias, .. }] = taken.as_slice() else {
        panic!("{taken:?}");
    };
    assert_eq!(alias.as_deref(), Some("crash"));
    assert_eq!(forge.names("intent-drafts"), Vec::<String>::new());
    let history = block_on(annals.history(*intent)).unwrap();
    assert!(history.iter().all(|entry| entry.actor == author()));
    let status = block_on(annals.inbox().status_at(*intent, At::Now)).unwrap();
    // A fix, which the rules call low, goes on.
    assert_eq!(status, ApprovalStatus::Approved);
}

#[test]
fn a_draft_whose_file_is_still_there_after_a_crash_is_proposed_once() {
    let annals = log();
    let forge = Forge::of(&[("intent-drafts/crash.md", DRAFT)]);
    // On disk, and not yet gone.
    assert!(matches!(
        take(&annals, &forge, true)[..],
        [Drafted::Proposed { .. }]
    ));
    let events = annals.position();
    assert_eq!(forge.names("intent-drafts"), ["crash.md"]);
    assert!(matches!(
        take(&annals, &forge, false)[..],
        [Drafted::Known { .. }]
    ));
    assert_eq!(forge.names("intent-drafts"), Vec::<String>::new());
    // Renamed already, and not yet gone.
    forge.put("intent-drafts/.crash.md.taken", DRAFT);
    assert!(matches!(
        take(&annals, &forge, false)[..],
        [Drafted::Known { .. }]
    ));
    assert_eq!(forge.names("intent-drafts"), Vec::<String>::new());
    assert_eq!((annals.position(), intents(&annals)), (events, 1));
}

#[test]
fn a_draft_that_another_person_took_is_known_as_well() {
    let annals = log();
    let forge = Forge::of(&[("intent-drafts/crash.md", DRAFT)]);
    take(&annals, &forge, true);
    let options =
        DraftOptions::new(annals_domain::ActorRef::human("ada")).with_secrets(Secrets::standard());
    let mut watch = DraftWatch::start(forge.path()).unwrap();
    let now = std::time::Instant::now();
    watch.ready(now).unwrap();
    let ready = watch
        .ready(now + std::time::Duration::from_secs(9))
        .unwrap();
    let taken = block_on(take_draft(
        &annals,
        &ready.drafts[0],
        &options,
        &mut Redactions::default(),
    ))
    .unwrap();
    assert!(matches!(taken, Drafted::Known { .. }), "{taken:?}");
    assert_eq!(intents(&annals), 1);
}

#[test]
fn a_draft_whose_intent_exists_is_skipped_and_kept() {
    let annals = log();
    let forge = Forge::of(&[
        ("intents/crash.yaml", "title: t\nbody: b\nsource: human\n"),
        ("intent-drafts/crash.md", DRAFT),
    ]);
    let report = forge.import(&annals);
    let said = passed_over(&report);
    assert!(
        said[0].contains("another object in the log has its name already"),
        "{said:?}"
    );
    assert_eq!(forge.get("intent-drafts/crash.md"), DRAFT);
    assert_eq!(intents(&annals), 1);
    // So is one with another text, once the first was taken, and also when that
    // intent was turned down since.
    let forge = Forge::of(&[("intent-drafts/new.md", DRAFT)]);
    let taken = take(&annals, &forge, false);
    let [Drafted::Proposed { intent, .. }] = taken[..] else {
        panic!("{taken:?}");
    };
    let reject = RejectIntent::new(intent);
    block_on(annals.execute(Request::new(author(), reject))).unwrap();
    forge.put("intent-drafts/new.md", "Other\n\ntext\n");
    assert!(
        matches!(take(&annals, &forge, false)[..], [Drafted::Exists { object }] if object == intent.0)
    );
    assert_eq!(forge.names("intent-drafts"), ["new.md"]);
}

#[test]
fn names_that_can_be_no_alias_stay_the_names_of_files() {
    let annals = log();
    let forge = Forge::of(&[
        ("intent-drafts/My idea!.md", DRAFT),
        ("intent-drafts/20260101.md", DRAFT),
        ("intent-drafts/アイデア.md", DRAFT),
    ]);
    let taken = take(&annals, &forge, false);
    let aliases: Vec<Option<&str>> = taken
        .iter()
        .map(|drafted| match drafted {
            Drafted::Proposed { alias, .. } => alias.as_deref(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(aliases, [None, None, Some("アイデア")]);
    let exported = Forge::new();
    exported.export(&annals);
    assert_eq!(
        exported.names("intents"),
        ["20260101.yaml", "My idea!.yaml", "アイデア.yaml"]
    );
    // They are the same intents when they are imported.
    assert_eq!(exported.import(&annals).imported, 0);
}

#[test]
fn hidden_files_and_links_and_folders_are_no_drafts() {
    let forge = Forge::of(&[
        ("intent-drafts/.#crash.md", DRAFT),
        ("intent-drafts/crash.md~", DRAFT),
        ("intent-drafts/sub/crash.md", DRAFT),
    ]);
    std::os::unix::fs::symlink(
        forge.file("intent-drafts/crash.md~"),
        forge.file("intent-drafts/l.md"),
    )
    .unwrap();
    let annals = log();
    let report = forge.import(&annals);
    assert_eq!(
        (report.imported, report.passed_over_count),
        (0, 3),
        "{report}"
    );
    assert_eq!(intents(&annals), 0);
}

#[test]
fn a_draft_that_proposes_what_is_refused_stays() {
    let annals = log();
    let forge = Forge::of(&[("intent-drafts/a.md", "---\nlabels: ['']\n---\nx\n\ny\n")]);
    let said = broken(&forge.import(&annals));
    assert!(said[0].starts_with("intent-drafts/a.md:2: "), "{said:?}");
    assert_eq!(forge.names("intent-drafts"), ["a.md"]);
}

#[test]
fn a_low_risk_that_a_draft_says_lets_it_go_on() {
    let annals = log();
    let forge = Forge::of(&[("intent-drafts/a.md", "---\nrisk: low\n---\nx\n\ny\n")]);
    forge.import(&annals);
    let id = IntentId(block_on(annals.resolve("a")).unwrap().id);
    let status = block_on(annals.inbox().status_at(id, At::Now)).unwrap();
    assert_eq!(status, ApprovalStatus::Approved);
}

#[test]
fn a_draft_that_is_called_like_an_intent_of_another_id_is_kept() {
    let annals = log();
    let id = IntentId(uuid::Uuid::from_u128(9));
    let submit = SubmitIntent::new("Another\n\none", Source::Human).with_id(id);
    let reserve = ReserveAlias::new(id.0, "crash");
    block_on(annals.execute(Request::new(author(), submit))).unwrap();
    block_on(annals.execute(Request::new(author(), reserve))).unwrap();
    let forge = Forge::of(&[("intent-drafts/crash.md", DRAFT)]);
    let taken = take(&annals, &forge, false);
    assert!(
        matches!(taken[..], [Drafted::Exists { object }] if object == id.0),
        "{taken:?}"
    );
    assert_eq!(
        (forge.names("intent-drafts"), intents(&annals)),
        (vec!["crash.md".to_owned()], 1)
    );
}

#[test]
fn two_drafts_whose_names_are_alike_are_two_intents() {
    let annals = log();
    let forge = Forge::of(&[("intent-drafts/My idea.md", "One\n\nb\n")]);
    forge.import(&annals);
    let forge = Forge::of(&[
        (
            "intents/my-idea.yaml",
            "title: Two\nbody: b\nsource: human\nstatus: executing\n",
        ),
        ("tasks/my-idea.yaml", "- {id: t, title: x}\n"),
    ]);
    let report = forge.import(&annals);
    assert_eq!(report.notes, ["imported 1 intent, 1 task"]);
    assert_eq!(intents(&annals), 2);
}

#[test]
fn a_file_that_is_in_the_way_of_one_that_goes_is_named() {
    let annals = log();
    let forge = Forge::of(&[
        ("intent-drafts/a.md", DRAFT),
        ("intent-drafts/.a.md.taken", "Another\n\ntext\n"),
    ]);
    // The one that was about to be removed is proposed first: it is nowhere else.
    let taken = take(&annals, &forge, false);
    assert!(
        matches!(
            taken[..],
            [Drafted::Proposed { .. }, Drafted::Exists { .. }]
        ),
        "{taken:?}"
    );
    assert_eq!(forge.names("intent-drafts"), ["a.md"]);
    fs::remove_file(forge.file("intent-drafts/a.md")).unwrap();
    forge.put("intent-drafts/b.md", DRAFT);
    take(&annals, &forge, true);
    fs::create_dir(forge.file("intent-drafts/.b.md.taken")).unwrap();
    let taken = take(&annals, &forge, false);
    let [stays @ Drafted::Stays { events: 0, .. }] = &taken[..] else {
        panic!("{taken:?}");
    };
    assert!(
        stays.to_string().contains(".b.md.taken is in the way"),
        "{stays}"
    );
    assert_eq!(forge.get("intent-drafts/b.md"), DRAFT);
}

#[test]
fn the_same_draft_written_again_is_kept() {
    let annals = log();
    let forge = Forge::of(&[("intent-drafts/a.md", DRAFT)]);
    take(&annals, &forge, false);
    forge.put("intent-drafts/a.md", DRAFT);
    assert!(matches!(
        take(&annals, &forge, false)[..],
        [Drafted::Exists { .. }]
    ));
    assert_eq!(forge.names("intent-drafts"), ["a.md"]);
}

#[test]
fn a_draft_with_the_longest_name_goes_as_well() {
    let annals = log();
    let name = format!("intent-drafts/{}.md", "n".repeat(252));
    let forge = Forge::of(&[(&name, DRAFT)]);
    assert!(matches!(
        take(&annals, &forge, false)[..],
        [Drafted::Proposed { .. }]
    ));
    assert_eq!(forge.names("intent-drafts"), Vec::<String>::new());
}

#[test]
fn a_draft_that_cannot_be_read_does_not_hold_the_others() {
    let annals = log();
    let forge = Forge::of(&[("intent-drafts/a.md", DRAFT), ("intent-drafts/b.md", DRAFT)]);
    // A user who may read everything cannot read this either: it is too large.
    forge.put("intent-drafts/a.md", vec![b'x'; 5 << 20]);
    let report = forge.import(&annals);
    assert_eq!((report.imported, report.broken_count), (1, 1), "{report}");
    assert_eq!(forge.names("intent-drafts"), ["a.md"]);
}

#[test]
fn a_draft_of_one_line_is_taken_as_submit_takes_it() {
    let forge = Forge::of(&[("intent-drafts/a.md", "Fix the crash at login\n")]);
    let annals = log();
    assert_eq!(broken(&forge.import(&annals)), Vec::<String>::new());
    let id = IntentId(block_on(annals.resolve("a")).unwrap().id);
    let drafted = block_on(annals.inbox().forge_intent(id, At::Now)).unwrap();
    let submit = SubmitIntent::new("Fix the crash at login", Source::Human);
    let submit = Request::new(author(), submit);
    let outcome = block_on(annals.execute(submit)).unwrap();
    let submitted = IntentId(outcome.id.unwrap());
    let submitted = block_on(annals.inbox().forge_intent(submitted, At::Now)).unwrap();
    assert_eq!(drafted.title.to_string(), "Fix the crash at login");
    assert_eq!(
        (&drafted.title, &drafted.body),
        (&submitted.title, &submitted.body)
    );
    assert_eq!(
        (&drafted.work_type, drafted.risk),
        (&submitted.work_type, submitted.risk)
    );
    assert_eq!(drafted.status, submitted.status);
    assert_eq!(forge.names("intent-drafts"), Vec::<String>::new());
}
