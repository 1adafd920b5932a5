//! What a commit's own words, people and times become.

use annals_domain::GitOid;
use annals_domain::run::{ApplyStatus, Status};
use annals_event_log::{Position, Query};
use futures::executor::block_on;

use super::repo::{AUTHOR, TestRepo, files, import, oid};

/// Kind, id and display name of a commit's author, and what was noted.
fn author(raw: &[u8]) -> ((String, String, Option<String>), Vec<String>) {
    let repo = TestRepo::new();
    let rest = [
        b"author ",
        raw,
        b"\ncommitter ",
        AUTHOR.as_bytes(),
        b"\n\nsubject\n",
    ]
    .concat();
    let commit = repo.raw_commit(&files(&[("a", "1\n")]), &[], &rest);
    let log = import(&repo);
    let actor = log.intent(commit).header.created_by;
    (
        (actor.kind.as_str().to_owned(), actor.id, actor.display_name),
        log.report.notes,
    )
}

#[test]
fn a_root_commit_becomes_five_finished_objects() {
    let repo = TestRepo::new();
    let commit = repo.commit(
        &files(&[("a.txt", "one\ntwo\n")]),
        &[],
        "Add a\n\nBecause it is needed.\n",
    );
    let log = import(&repo);
    let intent = log.intent(commit);
    assert_eq!(intent.prompt.as_str(), Some("Add a"));
    assert_eq!(
        intent.content.as_ref().and_then(|c| c.as_str()),
        Some("Because it is needed.")
    );
    assert_eq!(intent.parent, None);
    assert_eq!(intent.commit, Some(oid(commit)));
    let states: Vec<String> = intent
        .statuses
        .iter()
        .map(|s| s.status.to_string())
        .collect();
    assert_eq!(states, ["draft", "active", "completed"]);
    let external = intent
        .header
        .external_ids
        .get("git.commit")
        .map(ToString::to_string);
    assert_eq!(external, Some(commit.to_string()));
    let task = log.task(commit);
    assert_eq!(
        (task.title.as_str(), task.intent),
        (Some("Add a"), Some(intent.header.object_id.into()))
    );
    let run = log.run(commit);
    assert_eq!((run.status(), run.commit), (Status::Completed, None));
    let patch_set = log.patch_set(commit);
    assert_eq!(
        (patch_set.status(), patch_set.commit),
        (ApplyStatus::Applied, None)
    );
    assert_eq!(
        patch_set.rationale.as_ref().and_then(|r| r.as_str()),
        Some("Because it is needed.")
    );
    assert_eq!(log.touched(commit), ["add a.txt +2 -0"]);
    assert_eq!((log.report.records_read, log.report.imported), (1, 1));
    assert_eq!(log.report.events_made, log.annals.position().0);
    assert!(!log.report.shallow);
    assert!(log.report.notes.is_empty(), "{:?}", log.report.notes);
    assert!(
        log.report.to_string().contains("imported       1"),
        "{}",
        log.report
    );
}

#[test]
fn the_first_parent_is_the_baseline_also_of_a_merge() {
    let repo = TestRepo::new();
    let root = repo.commit(&files(&[("a", "1\n")]), &[], "root\n");
    let ours = repo.commit(&files(&[("a", "1\n"), ("ours", "1\n")]), &[root], "ours\n");
    let theirs = repo.commit(
        &files(&[("a", "1\n"), ("theirs", "1\n")]),
        &[root],
        "theirs\n",
    );
    let both = files(&[("a", "1\n"), ("ours", "1\n"), ("theirs", "1\n")]);
    let merge = repo.commit(&both, &[ours, theirs], "merge\n");
    let log = import(&repo);
    assert_eq!(log.report.imported, 4);
    assert_eq!(log.run(merge).commit, Some(oid(ours)));
    assert_eq!(log.patch_set(merge).commit, Some(oid(ours)));
    assert_eq!(log.touched(merge), ["add theirs +1 -0"]);
    assert_eq!(log.run(theirs).commit, Some(oid(root)));
    assert_eq!(log.kept("parents but the first"), 1);
    let header = String::from_utf8(log.header(merge).unwrap()).unwrap();
    let parents = format!("\nparent {ours}\nparent {theirs}\n");
    assert!(header.contains(&parents), "{header}");
    assert_eq!(log.header(theirs), None);
}

/// The header with the tree and without parents that a test repository gives a commit.
fn header_of(repo: &TestRepo, rest: &str) -> (Vec<u8>, super::repo::Imported) {
    let commit = repo.raw_commit(&files(&[("a", "1\n")]), &[], rest.as_bytes());
    let log = import(repo);
    let header = log.header(commit).unwrap_or_default();
    (header, log)
}

#[test]
fn a_header_that_says_more_than_a_log_has_fields_for_is_kept_as_it_is() {
    const SIGNATURE: &str = "-----BEGIN PGP SIGNATURE-----\n \n iQIzBAABCAAdFiEE0123456789abcdefABCDEF\n =abcd\n -----END PGP SIGNATURE-----";
    let plain = "author A <a@b> 1000 +0000\ncommitter A <a@b> 2000 +0000\n";
    let signed = format!("{plain}gpgsig {SIGNATURE}\n");
    let merged = format!("{plain}mergetag object 1\n type commit\n tag x\n");
    for (header, fields) in [
        (plain, [].as_slice()),
        (
            "author A <a@b> 1000 +0530\ncommitter A <a@b> 2000 -0800\n",
            &["author.date's time zone", "committer.date's time zone"],
        ),
        (
            "author A <a@b> 1000 +0000\ncommitter B <b@b> 2000 +0000\n",
            &["committer.name and committer.email"],
        ),
        (&signed, &["gpgsig"]),
        (&merged, &["mergetag"]),
        (
            "author A <a@b> 1000 +0000\ncommitter A <a@b> 2000 +0000\nnote x\n",
            &["other headers"],
        ),
        (
            "author A <a@b> 1000 +0000\ncommitter A <a@b> 2000 -0000\nencoding UTF-8\n",
            &["committer.date's time zone", "encoding"],
        ),
    ] {
        let repo = TestRepo::new();
        let (kept, log) = header_of(&repo, &format!("{header}\nx\n"));
        let kept = String::from_utf8(kept).unwrap();
        match fields {
            [] => assert_eq!(kept, ""),
            _ => assert!(
                kept.starts_with("tree ") && kept.ends_with(header),
                "{kept}"
            ),
        }
        for field in fields {
            assert_eq!((log.kept(field), log.lost(field)), (1, 0), "{field}");
        }
    }
}

#[test]
fn a_header_is_kept_without_its_secrets_and_up_to_64_kib() {
    let plain = "author A <a@b> 1000 +0000\ncommitter A <a@b> 2000 +0000\n";
    let token = format!("ghp_{}", "0aZ9".repeat(9));
    let repo = TestRepo::new();
    let (kept, log) = header_of(&repo, &format!("{plain}note {token}\n\nx\n"));
    let kept = String::from_utf8(kept).unwrap();
    assert!(kept.contains("note ") && !kept.contains(&token), "{kept}");
    assert!(!log.report.redacted.is_empty());
    let repo = TestRepo::new();
    let (kept, log) = header_of(&repo, &format!("{plain}note {}\n\nx\n", "x".repeat(65_536)));
    assert_eq!((kept.len(), log.lost("other headers")), (0, 1));
    assert!(log.has_note("header over 64 KiB"));
}

#[test]
fn what_a_header_says_of_somebody_unreadable_is_kept() {
    let repo = TestRepo::new();
    let header = "author nobody at all\ncommitter A <a@b> 2000 +0000\n";
    let (kept, _) = header_of(&repo, &format!("{header}\nx\n"));
    let kept = String::from_utf8(kept).unwrap();
    assert!(kept.ends_with(header), "{kept}");
}

#[test]
fn parents_come_before_children_whatever_the_clocks_say() {
    let repo = TestRepo::new();
    let dated = |time: i64, parents: &[gix::ObjectId], name: &str| {
        let who = format!("A <a@b> {time} +0000");
        let rest = format!("author {who}\ncommitter {who}\n\n{name}\n");
        repo.raw_commit(&files(&[("a", name)]), parents, rest.as_bytes())
    };
    let root = dated(3_000, &[], "root");
    let early_child = dated(1_000, &[root], "child");
    let side = dated(2_000, &[root], "side");
    dated(500, &[early_child, side], "merge");
    let log = import(&repo);
    let page = block_on(
        log.annals
            .log()
            .read(Query::event_type("intent.submitted", Position(1))),
    );
    let mut prompts = Vec::new();
    for record in page.unwrap().records {
        let id: uuid::Uuid = record.stream_name().id().parse().unwrap();
        let view: annals::projections::IntentView = block_on(log.annals.get(id.into())).unwrap();
        prompts.push(view.prompt.to_string());
    }
    assert_eq!(prompts, ["root", "child", "side", "merge"]);
}

#[test]
fn an_empty_message_is_named_so() {
    let repo = TestRepo::new();
    let commit = repo.commit(&files(&[("a", "1\n")]), &[], "");
    let log = import(&repo);
    assert_eq!(log.intent(commit).prompt.as_str(), Some("(empty message)"));
    assert_eq!(
        log.intent(commit).content.as_ref().and_then(|c| c.as_str()),
        Some("(empty message)")
    );
    assert_eq!(log.task(commit).title.as_str(), Some("(no subject)"));
    assert!(log.has_note("empty message"));
}

#[test]
fn titles_are_cut_to_99_characters() {
    let repo = TestRepo::new();
    let subject = "é".repeat(200);
    let commit = repo.commit(&files(&[("a", "1\n")]), &[], &subject);
    let log = import(&repo);
    assert_eq!(
        log.task(commit).title.as_str(),
        Some("é".repeat(99).as_str())
    );
    assert_eq!(log.intent(commit).prompt.as_str(), Some(subject.as_str()));
    let whole = "x".repeat(99);
    let repo = TestRepo::new();
    let commit = repo.commit(&files(&[("a", "1\n")]), &[], &whole);
    assert_eq!(
        import(&repo).task(commit).title.as_str(),
        Some(whole.as_str())
    );
}

#[test]
fn authors_become_people_known_by_their_address() {
    let known =
        |id: &str, name: Option<&str>| ("human".to_owned(), id.to_owned(), name.map(str::to_owned));
    let check = |raw: &[u8], expected, note: Option<&str>| {
        let (actor, notes) = author(raw);
        assert_eq!(actor, expected, "{}", String::from_utf8_lossy(raw));
        match note {
            Some(note) => assert!(notes.iter().any(|n| n.contains(note)), "{notes:?}"),
            None => assert!(notes.is_empty(), "{notes:?}"),
        }
    };
    check(
        AUTHOR.as_bytes(),
        known("ada@example.org", Some("Ada Lovelace")),
        None,
    );
    check(
        b"Ada <> 1 +0000",
        known("Ada", Some("Ada")),
        Some("without an e-mail address"),
    );
    check(
        b" <  > 1 +0000",
        known("unknown", None),
        Some("without an e-mail address"),
    );
    check(
        b"Ren\xe9 <r@b> 1 +0000",
        known("r@b", Some("Ren\u{fffd}")),
        Some("not UTF-8"),
    );
}

#[test]
fn author_and_committer_dates_are_when_things_occurred() {
    let repo = TestRepo::new();
    let rest = "author A <a@b> 1000 +0000\ncommitter B <b@b> 2000 -0500\n\nx\n";
    let commit = repo.raw_commit(&files(&[("a", "1\n")]), &[], rest.as_bytes());
    let log = import(&repo);
    let times: Vec<i64> = log
        .intent(commit)
        .statuses
        .iter()
        .map(|s| s.changed_at.to_utc().timestamp())
        .collect();
    assert_eq!(times, [1_000, 1_000, 2_000]);
    assert_eq!(log.kept("committer.name and committer.email"), 1);
}

#[test]
fn impossible_dates_are_moved_and_noted() {
    for (raw, expected) in [
        ("99999999999999", 253_402_300_799),
        ("-99999999999999", -62_135_596_800),
    ] {
        let repo = TestRepo::new();
        let rest = format!("author A <a@b> {raw} +0000\ncommitter A <a@b> {raw} +0000\n\nx\n");
        let commit = repo.raw_commit(&files(&[("a", "1\n")]), &[], rest.as_bytes());
        let log = import(&repo);
        assert_eq!(
            log.intent(commit).header.created_at.to_utc().timestamp(),
            expected,
            "{raw}"
        );
        assert!(
            log.has_note("outside the years"),
            "{raw}: {:?}",
            log.report.notes
        );
    }
}

#[test]
fn messages_that_are_not_utf_8_are_read_as_far_as_possible() {
    let repo = TestRepo::new();
    let head = format!("author {AUTHOR}\ncommitter {AUTHOR}\n");
    let latin = [head.as_bytes(), b"encoding ISO-8859-1\n\ncaf\xe9\n"].concat();
    let first = repo.raw_commit(&files(&[("a", "1\n")]), &[], &latin);
    let unknown = [head.as_bytes(), b"\ncaf\xe9\n"].concat();
    let second = repo.raw_commit(&files(&[("a", "2\n")]), &[first], &unknown);
    let log = import(&repo);
    assert_eq!(log.intent(first).prompt.as_str(), Some("café"));
    assert_eq!(log.intent(second).prompt.as_str(), Some("caf\u{fffd}"));
    assert_eq!(log.lost("message's bytes"), 1);
}

#[test]
fn the_decision_names_the_real_commit() {
    let repo = TestRepo::new();
    let commit = repo.commit(&files(&[("a", "1\n")]), &[], "x\n");
    let log = import(&repo);
    let ids = annals_dialects::git::CommitIds::of(oid(commit));
    let decision: annals::projections::DecisionView =
        block_on(log.annals.get(ids.decision)).unwrap();
    let sha: Option<GitOid> = decision.result_commit_sha;
    assert_eq!(
        (sha, decision.chosen_patchset_id),
        (Some(oid(commit)), Some(ids.patch_set))
    );
    assert_eq!(decision.run_id, ids.run);
}
