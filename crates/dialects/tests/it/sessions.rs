//! Sessions of recordings: costs, the past, rebuilt rows, and prompts that were told before they were imported.

use std::fs;
use std::path::{Path, PathBuf};

use annals::projections::{CostSums, SessionActivity};
use annals::{Annals, At, CostQuery, SessionError, SessionListed, SessionPage, SessionQuery};
use annals_dialects::import::{self, ImportOptions, RedactedText};
use annals_dialects::live::{Live, Telling, Told, agent};
use annals_dialects::secrets::Secrets;
use annals_domain::Timestamp;
use annals_domain::run::RecordUsage;
use annals_event_log::Classified;
use chrono::{DateTime, TimeDelta};
use futures::executor::block_on;
use serde_json::json;

use crate::claude::log::Log;
use crate::claude::recording::Recording;
use crate::conversation::check_parts;

/// Recordings to import in addition to those of this repository.
const CORPUS: &str = "ANNALS_CORPUS";

fn all_of(annals: &Annals, query: SessionQuery) -> SessionPage {
    let query = query.with_limit(usize::MAX).with_now(Timestamp::EPOCH);
    block_on(annals.conversations().list(&query)).unwrap()
}

fn all(annals: &Annals) -> SessionPage {
    all_of(annals, SessionQuery::default())
}

/// The files of this repository that are recordings, and those of the corpus if there is one.
fn recordings() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/session.jsonl");
    let mut paths = vec![own];
    if let Some(corpus) = std::env::var_os(CORPUS) {
        let entries = fs::read_dir(corpus).unwrap();
        let files = entries.map(|entry| entry.unwrap().path());
        paths.extend(files.filter(|path| path.is_file()));
    } else {
        println!("{CORPUS} is not set: only the recordings of this repository are imported");
    }
    paths.sort();
    paths
}

/// Imports a file if it is a recording.
fn import(annals: &Annals, path: &Path) -> bool {
    let options = ImportOptions::default();
    let none = &mut |_| {};
    let reports = import::recordings(annals, path, None, &options, none);
    block_on(reports).is_ok_and(|reports| reports.iter().any(|it| it.events_made > 0))
}

fn sums(session: &SessionListed) -> (u128, u128, u128) {
    let cost = session.cost;
    (cost.micros, cost.unpriced_tokens, cost.tokens.total())
}

/// What holds of the sessions of any log.
fn check(annals: &Annals, what: &str) {
    let page = all(annals);
    assert_eq!(page.total, page.sessions.len(), "{what}");
    // Costs are those of `annals cost`, to the last millionth.
    let report = block_on(annals.costs().report(&CostQuery::default())).unwrap();
    let CostSums {
        used,
        computed_micros,
        unpriced_tokens,
        ..
    } = report.total;
    let total = page.sessions.iter().map(sums).fold((0, 0, 0), |sum, it| {
        (sum.0 + it.0, sum.1 + it.1, sum.2 + it.2)
    });
    assert_eq!(
        total,
        (computed_micros, unpriced_tokens, used.tokens.total()),
        "{what}"
    );
    // Rows that are folded again, and those that are folded in memory, are the same.
    block_on(annals.index().rebuild(&mut |_| {})).unwrap();
    assert_eq!(all(annals), page, "{what}");
    let end = At::Position(annals.position());
    let mut past = all_of(annals, SessionQuery::default().with_at(end));
    let mut now = page.clone();
    for page in [&mut past, &mut now] {
        page.sessions.iter_mut().for_each(without_activity);
    }
    assert_eq!(past, now, "{what}");
    check_past(annals, &page, what);
    for session in &page.sessions {
        check_session(annals, session);
    }
}

/// The list as of a position has what each session was then.
fn check_past(annals: &Annals, page: &SessionPage, what: &str) {
    let end = annals.position().0;
    let step = usize::try_from(end / 12).unwrap().max(1);
    for position in (1..=end).step_by(step) {
        let at = At::Position(annals_event_log::Position(position));
        let past = all_of(annals, SessionQuery::default().with_at(at));
        let mut there = 0;
        for session in &page.sessions {
            let id = session.summary.id;
            let listed = past.sessions.iter().find(|it| it.summary.id == id);
            match block_on(annals.conversations().summary(id, at)) {
                Ok(then) => {
                    there += 1;
                    assert_eq!(
                        listed.map(|it| &it.summary),
                        Some(&then),
                        "{what}, {position}"
                    );
                }
                Err(SessionError::NotYet { .. }) => assert_eq!(listed, None, "{what}, {position}"),
                Err(error) => panic!("{what}, {position}: {error}"),
            }
        }
        assert_eq!(past.total, there, "{what} at {position}");
    }
}

/// The activity depends on the time by which it is asked for.
fn without_activity(session: &mut SessionListed) {
    session.activity = SessionActivity::Idle;
    session.sub_agents.iter_mut().for_each(without_activity);
}

fn check_session(annals: &Annals, session: &SessionListed) {
    let summary = &session.summary;
    assert!(summary.first_position > 0 && summary.first_position <= summary.last_position);
    check_parts(annals, summary.id, At::Now);
    let middle = summary.first_position.midpoint(summary.last_position);
    check_parts(
        annals,
        summary.id,
        At::Position(annals_event_log::Position(middle)),
    );
    let names = [Some(summary.id.to_string()), summary.agent_session.clone()];
    for name in names.into_iter().flatten() {
        match block_on(annals.conversations().find(&name)) {
            Ok(found) => assert_eq!(found.id, summary.id, "{name}"),
            // Sub-agents of two sessions may have one name.
            Err(SessionError::Ambiguous { candidates, .. }) => {
                assert!(candidates.iter().any(|it| it.id == summary.id), "{name}");
            }
            Err(error) => panic!("{name}: {error}"),
        }
    }
    let end = At::Position(annals.position());
    let past = block_on(annals.conversations().summary(summary.id, end)).unwrap();
    assert_eq!(&past, summary);
    let before = At::Position(annals_event_log::Position(summary.first_position - 1));
    let before = block_on(annals.conversations().summary(summary.id, before));
    assert!(
        matches!(before, Err(SessionError::NotYet { .. })),
        "{before:?}"
    );
    session
        .sub_agents
        .iter()
        .for_each(|it| check_session(annals, it));
}

#[test]
fn each_recording_is_at_least_one_session() {
    let together = block_on(Annals::open("memory:")).unwrap();
    for path in recordings() {
        let annals = block_on(Annals::open("memory:")).unwrap();
        let what = path.display().to_string();
        if import(&annals, &path) {
            let page = all(&annals);
            assert!(!page.sessions.is_empty(), "{what}");
            let session = &page.sessions[0].summary;
            assert!(session.agent.is_some() && session.agent_session.is_some());
            check(&annals, &what);
            import(&together, &path);
        }
    }
    check(&together, "all recordings");
}

fn tell(log: &Log, prompt: &'static str, at: Timestamp) {
    let text = RedactedText::plain("Build it", &Secrets::standard()).0;
    let told = Told::Prompt {
        id: prompt.into(),
        text,
    };
    let telling = Telling::new("s", prompt, at, told);
    let mut live = Live::new(&log.annals, agent("claude").unwrap());
    block_on(live.tell(&telling)).unwrap();
}

#[test]
fn a_prompt_that_was_told_live_is_counted_once() {
    let mut log = Log::empty();
    let mut recording = Recording::of("s");
    recording
        .user(json!("Build it"))
        .with(json!({ "promptId": "p-1" }))
        .text("m1", "It is built.");
    let at = DateTime::parse_from_rfc3339("2026-01-02T03:00:01Z").unwrap();
    tell(&log, "p-1", at.to_utc().into());
    let session = all(&log.annals).sessions.remove(0).summary;
    assert_eq!(session.counts.prompts, 1);
    assert_eq!(session.title.as_deref(), Some("Build it"));
    assert_eq!(session.agent_session.as_deref(), Some("s"));
    log.grow(&recording, 9);
    let page = all(&log.annals);
    let summary = &page.sessions[0].summary;
    assert_eq!((page.total, summary.counts.prompts), (1, 1));
    assert_eq!(summary.counts.answers, 1);
    check(&log.annals, "a session that was told and imported");
}

#[test]
fn sessions_are_found_by_parts_of_their_names() {
    let mut log = Log::empty();
    for name in ["1111aaaa-one", "1111bbbb-two"] {
        let mut recording = Recording::of(name);
        recording.user(json!("Build it")).text(name, "Done.");
        log.grow(&recording, 9);
    }
    let find = |name: &str| block_on(log.annals.conversations().find(name));
    let one = find("1111aa").unwrap();
    assert_eq!(one.agent_session.as_deref(), Some("1111aaaa-one"));
    assert_eq!(
        find("-two").unwrap().agent_session.as_deref(),
        Some("1111bbbb-two")
    );
    let digits = one.id.simple().to_string();
    assert_eq!(find(&digits[..8]).unwrap().id, one.id);
    assert_eq!(find(&digits[24..]).unwrap().id, one.id);
    match find("1111") {
        Err(SessionError::Ambiguous { candidates, .. }) => assert_eq!(candidates.len(), 2),
        other => panic!("{other:?}"),
    }
    let listed = all(&log.annals);
    assert_eq!(find("@last").unwrap(), listed.sessions[0].summary);
    assert_eq!(find("@2").unwrap(), listed.sessions[1].summary);
    for name in ["@3", "@0", "@x", "none-such", ""] {
        let error = find(name).unwrap_err();
        assert_eq!(error.classify().code, "not_found", "{name}");
    }
}

#[test]
fn filters_choose_sessions_and_pages_hold_them_in_order() {
    let mut log = Log::empty();
    for (number, name) in ["a", "b", "c"].into_iter().enumerate() {
        let mut recording = Recording::of(name);
        recording.user(json!(format!("Task {name}")));
        for call in 0..=number {
            let id = format!("{name}{call}");
            recording
                .calls(&id, &id, "Bash", json!({ "command": "make" }))
                .result(&id, json!("ok"), false);
        }
        log.grow(&recording, 9);
    }
    let titles = |query: SessionQuery| {
        let page = all_of(&log.annals, query);
        let titles = page.sessions.iter();
        let titles = titles.map(|it| it.summary.title.clone().unwrap_or_default());
        titles.collect::<Vec<_>>()
    };
    let by_title = || SessionQuery::default().with_sort(annals::SessionSort::Title);
    assert_eq!(
        titles(by_title().with_ascending(true)),
        ["Task a", "Task b", "Task c"]
    );
    assert_eq!(titles(by_title()), ["Task c", "Task b", "Task a"]);
    assert_eq!(titles(by_title().with_offset(1)), ["Task b", "Task a"]);
    assert_eq!(
        titles(SessionQuery::default().with_text("task B")),
        ["Task b"]
    );
    assert!(titles(SessionQuery::default().with_agent("codex")).is_empty());
    assert_eq!(
        titles(SessionQuery::default().with_agent("claude")).len(),
        3
    );
    assert!(titles(SessionQuery::default().with_only_waiting(true)).is_empty());
    assert!(titles(SessionQuery::default().with_touched("*.rs")).is_empty());
    let query = SessionQuery::default().with_touched(" ");
    let error = block_on(log.annals.conversations().list(&query)).unwrap_err();
    assert_eq!(error.classify().code, "invalid_pattern");
    let page = block_on(log.annals.conversations().list(&by_title().with_limit(1))).unwrap();
    assert_eq!((page.sessions.len(), page.total, page.all), (1, 3, 3));
}

#[test]
fn the_newest_of_many_sessions_are_listed() {
    use annals::Request;
    use annals_domain::run::CreateRun;
    use annals_domain::task::CreateTask;
    use annals_domain::{ActorRef, RunId, TaskId};
    use uuid::Uuid;
    const SESSIONS: u128 = 300;
    let annals = block_on(Annals::open("memory:")).unwrap();
    let begun = DateTime::parse_from_rfc3339("2026-03-01T00:00:00Z").unwrap();
    for number in 0..SESSIONS {
        let (task, run) = (
            TaskId(Uuid::from_u128(number + 1)),
            RunId(Uuid::from_u128((number + 1) << 64)),
        );
        let at = begun.to_utc() + TimeDelta::hours(i64::try_from(number).unwrap());
        let used = RecordUsage::new(run, 1_000, 10).with_model("claude-opus-4-5".to_owned());
        let by = |command: annals_domain::Command| {
            Request::new(ActorRef::agent("coder"), command).at(at.into())
        };
        let title = format!("Session {number}");
        let batch = vec![
            by(CreateTask::new(title).with_id(task).into()),
            by(CreateRun::new(task).with_id(run).into()),
            by(used.into()),
        ];
        block_on(annals.execute_batch(None, batch)).unwrap();
    }
    let query = SessionQuery::default().with_limit(10);
    let page = block_on(annals.conversations().list(&query)).unwrap();
    assert_eq!((page.sessions.len(), page.all), (10, 300));
    let newest = page.sessions.iter().map(|it| it.summary.last_activity);
    assert!(newest.collect::<Vec<_>>().is_sorted_by(|a, b| a >= b));
    assert_eq!(
        page.sessions[0].summary.title.as_deref(),
        Some("Session 299")
    );
    let since = begun.to_utc() + TimeDelta::hours(290);
    let query = SessionQuery::default().with_since(since.into());
    assert_eq!(all_of(&annals, query).total, 10);
    check(&annals, "many sessions");
}

#[test]
fn titles_and_forks_are_those_that_the_agent_recorded() {
    let mut log = Log::empty();
    let mut recording = Recording::of("s");
    recording
        .user(json!("Build it"))
        .raw(json!({ "type": "ai-title", "aiTitle": "Build the thing", "sessionId": "s" }))
        .text("m1", "It is built.");
    log.grow(&recording, 3);
    let title = |log: &Log| {
        let summary = block_on(log.annals.conversations().find("@last")).unwrap();
        (summary.title, summary.is_agents_title)
    };
    assert_eq!(title(&log), (Some("Build the thing".to_owned()), true));
    recording
        .raw(json!({ "type": "custom-title", "customTitle": "My build", "sessionId": "s" }))
        // The program repeats it.
        .raw(json!({ "type": "custom-title", "customTitle": "My build", "sessionId": "s" }))
        .raw(json!({ "type": "ai-title", "aiTitle": "Build things", "sessionId": "s" }));
    log.grow(&recording, 9);
    assert_eq!(title(&log), (Some("My build".to_owned()), true));
    let before = log.annals.position();
    log.grow(&recording, 9);
    assert_eq!(log.annals.position(), before, "{}", log.report);

    let origin = block_on(log.annals.conversations().find("@last")).unwrap();
    let mut fork = Recording::of("t").after(100);
    fork.user(json!("Another way"))
        .with(json!({ "forkedFrom": { "sessionId": "s", "messageUuid": "s-0" } }))
        .text("m9", "Done.");
    log.grow(&fork, 9);
    let fork = block_on(log.annals.conversations().find("@last")).unwrap();
    assert_eq!(fork.agent_session.as_deref(), Some("t"));
    assert_eq!(fork.continues, Some(origin.id));
}

#[test]
fn a_project_is_the_repository_of_the_working_directory() {
    let folder = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(folder.path()).unwrap();
    for name in [".git/objects", ".git/refs", "crates/core"] {
        fs::create_dir_all(top.join(name)).unwrap();
    }
    fs::write(top.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let mut log = Log::empty();
    let below = top.join("crates/core");
    for (session, cwd) in [("s", below.as_path()), ("t", Path::new("/no/such/place"))] {
        let mut recording = Recording::of(session);
        recording
            .user(json!("Build it"))
            .with(json!({ "cwd": cwd }))
            .text(session, "It is built.")
            .with(json!({ "cwd": cwd }));
        log.grow(&recording, 9);
    }
    let project = |session: &str| block_on(log.annals.conversations().find(session)).unwrap();
    let own = project("s");
    assert_eq!(own.project.as_deref(), top.to_str());
    assert_eq!(own.directory.as_deref(), below.to_str());
    assert_eq!(project("t").project.as_deref(), Some("/no/such/place"));
    let page = all_of(
        &log.annals,
        SessionQuery::default().with_project(top.to_str().unwrap()),
    );
    assert_eq!(page.total, 1);
}

/// A session that hands work to a sub-agent.
fn with_sub_agent(session: &str) -> Recording {
    let mut recording = Recording::of(session);
    recording
        .user(json!("Go"))
        .text("m1", "I ask for help.")
        .calls("m2", "task", "Task", json!({ "prompt": "Search for it" }))
        .on_side(json!("agent-7"))
        .user(json!("Search for it"))
        .with(json!({ "parentUuid": null }))
        .text("m3", "It is there.")
        .on_main()
        .result("task", json!("It is there."), false)
        .text("m4", "Found.");
    recording
}

#[test]
fn a_session_is_listed_in_the_past_before_its_sub_agents() {
    let mut ids_before = 0;
    for name in ["a", "b", "c", "d", "e", "f"] {
        let log = Log::of(&with_sub_agent(name));
        let ids = annals_dialects::claude::ids();
        let (main, side) = (ids.session(name), ids.side_chain(name, "agent-7"));
        ids_before += u32::from(side.task < main.task);
        check(&log.annals, name);
    }
    assert!(ids_before > 0, "no sub-agent has the smaller id");
}
