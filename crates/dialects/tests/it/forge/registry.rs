//! Forge's tables, row by row, as a folder's files say them.

use annals::event_log::{Position, Query};
use annals::projections::{ForgeIntentView, ForgeTaskView, InboxQuery, ReviewView};
use annals::{Annals, At, Request};
use annals_domain::intent::{ApprovalStatus, Risk, Source, WorkType};
use annals_domain::settings::{SetSetting, Setting};
use annals_domain::task::{Complexity, ReviewVerdict};
use annals_domain::{IntentId, TaskId};
use futures::executor::block_on;

use super::{Forge, broken, log};

fn intent(annals: &Annals, name: &str) -> ForgeIntentView {
    let id = IntentId(block_on(annals.resolve(name)).unwrap().id);
    block_on(annals.inbox().forge_intent(id, At::Now)).unwrap()
}

fn tasks(annals: &Annals, name: &str) -> Vec<ForgeTaskView> {
    let of: Vec<TaskId> = intent(annals, name).tasks;
    let seen = of
        .iter()
        .map(|task| block_on(annals.inbox().forge_task(*task, At::Now)));
    seen.map(Result::unwrap).collect()
}

/// An intent's file with this besides.
fn with(more: &str) -> String {
    format!("title: t\nbody: b\nsource: human\n{more}")
}

#[test]
fn intent_type_feature_refactor_fix_test_audit() {
    let forge = Forge::new();
    let words = ["feature", "refactor", "fix", "test", "audit"];
    for word in words {
        forge.put(
            &format!("intents/{word}.yaml"),
            with(&format!("type: {word}\n")),
        );
    }
    let annals = log();
    forge.import(&annals);
    for (word, work_type) in words.iter().zip(WorkType::LISTED) {
        assert_eq!(intent(&annals, word).work_type.as_ref(), Some(work_type));
    }
}

#[test]
fn intent_type_any_other_word_is_kept_and_comes_back() {
    let forge = Forge::of(&[
        ("intents/a.yaml", &with("type: docs\n")),
        ("intents/b.yaml", &with("type: 文書 2\n")),
        ("intents/slip.yaml", &with("type: Audit\n")),
        ("intent-drafts/c.md", "---\ntype: feture\n---\nx\n\ny\n"),
    ]);
    let annals = log();
    let report = forge.import(&annals);
    let slips = broken(&report);
    assert_eq!(slips.len(), 1, "{slips:?}");
    assert!(slips[0].starts_with("intents/slip.yaml:4: "), "{slips:?}");
    assert!(slips[0].contains("did you mean \"audit\"?"), "{slips:?}");
    let note = "kept 2 types that are not listed: docs, 文書 2; they are treated as feature \
                (classification.unknown_type)";
    assert!(report.notes.iter().any(|it| it == note), "{report}");
    for (name, word) in [("a", "docs"), ("b", "文書 2"), ("c", "feture")] {
        let view = intent(&annals, name);
        assert_eq!(view.work_type, Some(WorkType::Other(word.into())));
        assert_eq!(view.flow.len(), 3);
    }
    let exported = Forge::new();
    exported.export(&annals);
    assert!(exported.get("intents/a.yaml").contains("\ntype: docs\n"));
    assert!(exported.get("intents/c.yaml").contains("\ntype: feture\n"));
    let other = log();
    exported.import(&other);
    let again = intent(&other, "b").work_type;
    assert_eq!(again, Some(WorkType::Other("文書 2".into())));
}

#[test]
fn intent_source_human_audit_epiphany_reflection_in_both_languages() {
    let forge = Forge::new();
    for source in Source::ALL {
        let text = format!("title: 気づき\nbody: 本文 body\nsource: {source}\n");
        forge.put(&format!("intents/{source}.yaml"), text);
    }
    let annals = log();
    forge.import(&annals);
    for source in Source::ALL {
        let view = intent(&annals, source.as_str());
        assert_eq!(
            (view.source, view.title.to_string()),
            (*source, "気づき".to_owned())
        );
        assert_eq!(view.body.to_string(), "本文 body");
    }
}

#[test]
fn intent_risk_low_med_high_or_missing() {
    let forge = Forge::of(&[("intents/none.yaml", &with(""))]);
    for risk in Risk::ALL {
        forge.put(
            &format!("intents/{risk}.yaml"),
            with(&format!("risk: {risk}\n")),
        );
    }
    let annals = log();
    forge.import(&annals);
    assert_eq!(intent(&annals, "none").risk, None);
    for risk in Risk::ALL {
        assert_eq!(intent(&annals, risk.as_str()).risk, Some(*risk));
    }
    // A person's file goes on as its status says: all of them wait.
    let inbox = block_on(annals.inbox().entries(&InboxQuery::default())).unwrap();
    let mut waiting: Vec<&str> = inbox
        .entries
        .iter()
        .map(|it| it.row.aliases[0].as_str())
        .collect();
    waiting.sort_unstable();
    assert_eq!(waiting, ["high", "low", "med", "none"]);
}

#[test]
fn an_agents_file_that_declares_a_low_risk_goes_on_and_says_declared() {
    let agents = |source: &str, more: &str| format!("title: t\nbody: b\nsource: {source}\n{more}");
    let forge = Forge::new();
    for source in ["audit", "epiphany", "reflection"] {
        let text = agents(source, "risk: low\nstatus: proposed\n");
        forge.put(&format!("intents/{source}.yaml"), text);
    }
    forge.put("intents/med.yaml", agents("audit", "risk: med\n"));
    forge.put("intents/none.yaml", agents("audit", ""));
    forge.put("intents/later.yaml", agents("audit", "risk: high\n"));
    let annals = log();
    let report = forge.import(&annals);
    let note = "3 intents go on by the system's approval: the risk was declared";
    assert!(report.notes.iter().any(|it| it == note), "{report}");
    for source in ["audit", "epiphany", "reflection"] {
        let view = intent(&annals, source);
        assert_eq!(view.status, ApprovalStatus::Approved, "{source}");
        assert_eq!(view.risk_basis.map(|it| it.as_str()), Some("declared"));
        let why = view.approval.map(|why| why.to_string());
        assert_eq!(why.as_deref(), Some("risk low (declared)"));
    }
    let waiting = block_on(annals.inbox().entries(&InboxQuery::default()))
        .unwrap()
        .entries;
    let mut waiting: Vec<String> = waiting.iter().map(|it| it.row.aliases[0].clone()).collect();
    waiting.sort_unstable();
    assert_eq!(waiting, ["later", "med", "none"]);
    // Nothing is new of the same files; one that says a lower risk now goes on.
    forge.put("intents/later.yaml", agents("audit", "risk: low\n"));
    let report = forge.import(&annals);
    assert_eq!((report.imported, super::passed_over(&report)), (1, vec![]));
    assert_eq!(intent(&annals, "later").status, ApprovalStatus::Approved);
}

#[test]
fn an_agents_file_waits_where_the_log_lets_nothing_go() {
    let forge = Forge::of(&[(
        "intents/a.yaml",
        "title: t\nbody: b\nsource: audit\nrisk: low\n",
    )]);
    let annals = log();
    let none = SetSetting::new(Setting::AutonomyThreshold, "none");
    block_on(annals.execute(Request::new(super::author(), none))).unwrap();
    forge.import(&annals);
    assert_eq!(intent(&annals, "a").status, ApprovalStatus::Proposed);
    let entry = block_on(annals.inbox().entries(&InboxQuery::default()))
        .unwrap()
        .entries
        .remove(0);
    let why = block_on(annals.inbox().details(&entry)).unwrap().why;
    let said = "risk low (declared); the system approves nothing (autonomy.threshold none)";
    assert_eq!(why, said);
}

#[test]
fn intent_status_proposed_approved_executing_done_blocked_error() {
    let forge = Forge::new();
    let of_tasks = |words: &[&str]| -> String {
        let one = |(n, word)| format!("- {{id: t{n}, title: x, status: {word}}}\n");
        words.iter().enumerate().map(one).collect()
    };
    let rows: [(&str, &[&str]); 8] = [
        ("proposed", &[]),
        ("approved", &["pending"]),
        ("executing", &["done", "implementing"]),
        ("done", &["done", "done"]),
        ("blocked", &["done", "failed"]),
        ("error", &["failed", "failed"]),
        ("rejected", &["failed"]),
        ("cancelled", &["pending"]),
    ];
    for (status, words) in rows {
        forge.put(
            &format!("intents/{status}.yaml"),
            with(&format!("status: {status}\n")),
        );
        let text = of_tasks(words);
        forge.put(
            &format!("tasks/{status}.yaml"),
            if text.is_empty() { "[]\n" } else { &text },
        );
    }
    let annals = log();
    let report = forge.import(&annals);
    assert_eq!(report.violations_count, 0, "{report}");
    for (status, _) in rows {
        assert_eq!(intent(&annals, status).status.as_str(), status);
    }
    // The file's status does not count against the tasks.
    forge.put("intents/liar.yaml", with("status: done\n"));
    forge.put("tasks/liar.yaml", of_tasks(&["failed"]));
    let report = forge.import(&annals);
    assert_eq!(
        super::violations(&report),
        [
            "intents/liar.yaml:1: its file says done, and its tasks and parts come to error, which counts"
        ]
    );
    assert_eq!(intent(&annals, "liar").status, ApprovalStatus::Error);
}

#[test]
fn intent_parent_is_the_id_of_the_parent() {
    let forge = Forge::of(&[
        ("intents/whole.yaml", &with("status: executing\n")),
        ("intents/part.yaml", &with("parent: whole\n")),
    ]);
    let annals = log();
    forge.import(&annals);
    assert_eq!(intent(&annals, "part").parent.as_deref(), Some("whole"));
    assert_eq!(intent(&annals, "whole").children.len(), 1);
}

#[test]
fn inbox_approval_clarification_and_failed_review() {
    let forge = Forge::of(&[
        ("intents/a.yaml", &with("risk: high\n")),
        (
            "intents/b.yaml",
            &with("risk: low\nclarifications: [{question: どれ?}]\n"),
        ),
        ("intents/c.yaml", &with("status: blocked\n")),
        (
            "tasks/c.yaml",
            "- {id: t, title: x, status: failed}\n- {id: u, title: x, status: done}\n",
        ),
        (
            "reviews/t.yaml",
            "verdict: rejected\nissues: [テストがない]\n",
        ),
        ("intents/d.yaml", &with("status: done\n")),
    ]);
    let annals = log();
    forge.import(&annals);
    let inbox = block_on(annals.inbox().entries(&InboxQuery::default())).unwrap();
    let mut said = Vec::new();
    for entry in &inbox.entries {
        let reasons: Vec<&str> = entry.reasons.iter().map(|it| it.as_str()).collect();
        let details = block_on(annals.inbox().details(entry)).unwrap();
        let issues = details.failed_tasks.iter().flat_map(|task| &task.reviews);
        let issues: Vec<String> = issues
            .flat_map(|it| &it.issues)
            .map(|it| it.to_string())
            .collect();
        said.push((
            entry.row.aliases[0].clone(),
            reasons.join(","),
            issues.join(","),
        ));
    }
    let row =
        |name: &str, why: &str, issues: &str| (name.to_owned(), why.to_owned(), issues.to_owned());
    assert_eq!(
        said,
        [
            row("a", "approval", ""),
            row("b", "clarification,approval", ""),
            row("c", "blocked", "テストがない"),
        ]
    );
}

#[test]
fn inbox_has_the_children_that_are_blocked_or_in_error() {
    let forge = Forge::of(&[
        ("intents/whole.yaml", &with("status: blocked\n")),
        ("intents/a.yaml", &with("parent: whole\nstatus: error\n")),
        ("tasks/a.yaml", "- {id: t, title: x, status: failed}\n"),
        ("intents/b.yaml", &with("parent: whole\nstatus: done\n")),
        ("intents/c.yaml", &with("parent: whole\nstatus: blocked\n")),
        (
            "tasks/c.yaml",
            "- {id: u, title: x, status: failed}\n- {id: v, title: x, status: done}\n",
        ),
    ]);
    let annals = log();
    forge.import(&annals);
    let id = |name: &str| IntentId(block_on(annals.resolve(name)).unwrap().id);
    let inbox = block_on(annals.inbox().entries(&InboxQuery::default())).unwrap();
    let whole = inbox.entries.iter().find(|it| it.id() == id("whole").0);
    let details = block_on(annals.inbox().details(whole.unwrap())).unwrap();
    let mut failed = details.failed_children;
    failed.sort_by_key(|(child, _)| *child == id("c"));
    assert_eq!(
        failed,
        [
            (id("a"), ApprovalStatus::Error),
            (id("c"), ApprovalStatus::Blocked),
        ]
    );
}

#[test]
fn registry_human_drafts_are_parsed_and_the_other_sources_written_directly() {
    let forge = Forge::of(&[
        ("intents/found.yaml", "title: t\nbody: b\nsource: audit\n"),
        (
            "intent-drafts/login-reset.md",
            "---\ntype: feature\nlabels: [ui, auth]\n---\n\nログイン画面にパスワードリセットリンクを追加する。\n\n\
             現状ではパスワードを忘れたユーザーがリセットする手段がない。\n",
        ),
    ]);
    let annals = log();
    forge.import(&annals);
    let view = intent(&annals, "login-reset");
    assert_eq!(
        (view.source, view.work_type),
        (Source::Human, Some(WorkType::Feature))
    );
    assert_eq!(
        view.title.to_string(),
        "ログイン画面にパスワードリセットリンクを追加する。"
    );
    let labels: Vec<String> = view.labels.iter().map(ToString::to_string).collect();
    assert_eq!(labels, ["ui", "auth"]);
    assert_eq!(intent(&annals, "found").source, Source::Audit);
    assert_eq!(forge.names("intent-drafts"), Vec::<String>::new());
}

#[test]
fn registry_draft_without_type_and_labels_is_classified_by_rule() {
    let forge = Forge::of(&[
        ("intent-drafts/a.md", "保存時の不具合\n\n落ちる。\n"),
        (
            "intent-drafts/b.md",
            "Cover the parser\n\nMore test cases.\n",
        ),
    ]);
    let annals = log();
    forge.import(&annals);
    assert_eq!(intent(&annals, "a").work_type, Some(WorkType::Fix));
    assert_eq!(intent(&annals, "b").work_type, Some(WorkType::Test));
}

#[test]
fn task_every_field() {
    let tasks = "- id: a\n  title: 経路\n- id: t\n  intent_id: i\n  title: 作業\n  plan: こうする\n  \
                 relevant_files: [a.rs, b.rs]\n  implementation_steps: [一, two]\n  context: 補足\n  \
                 complexity: high\n  depends_on: [a]\n  status: implementing\n";
    let forge = Forge::of(&[
        ("intents/i.yaml", &with("status: executing\n")),
        ("tasks/i.yaml", tasks),
    ]);
    let annals = log();
    forge.import(&annals);
    let of = tasks_json(&annals, "i");
    assert_eq!(
        of[1],
        serde_json::json!({
            "id": "t", "title": "作業", "intent_id": "i", "status": "implementing",
            "complexity": "high", "plan": "こうする", "relevant_files": ["a.rs", "b.rs"],
            "implementation_steps": ["一", "two"], "context": "補足", "depends_on": ["a"],
        })
    );
}

fn tasks_json(annals: &Annals, name: &str) -> Vec<serde_json::Value> {
    let tasks = tasks(annals, name).into_iter();
    tasks
        .map(|task| serde_json::to_value(task).unwrap())
        .collect()
}

#[test]
fn task_title_may_be_longer_in_a_file() {
    let title = "長".repeat(300);
    let forge = Forge::of(&[
        ("intents/i.yaml", &with("")),
        ("tasks/i.yaml", &format!("- {{id: t, title: {title}}}\n")),
    ]);
    let annals = log();
    assert_eq!(broken(&forge.import(&annals)), Vec::<String>::new());
    assert_eq!(tasks(&annals, "i")[0].title.to_string(), title);
}

#[test]
fn task_status_pending_implementing_done_failed_and_both_spellings() {
    let words = ["pending", "implementing", "done", "completed", "failed"];
    let shown = ["pending", "implementing", "done", "done", "failed"];
    let text: String = words
        .iter()
        .map(|word| format!("- {{id: {word}, title: x, status: {word}}}\n"))
        .collect();
    let forge = Forge::of(&[
        ("intents/i.yaml", &with("status: executing\n")),
        ("tasks/i.yaml", &text),
    ]);
    let annals = log();
    forge.import(&annals);
    let of: Vec<_> = tasks_json(&annals, "i")
        .iter()
        .map(|it| it["status"].clone())
        .collect();
    assert_eq!(of, shown);
}

#[test]
fn task_complexity_low_med_high_and_medium() {
    let text = "- {id: a, title: x, complexity: low}\n- {id: b, title: x, complexity: med}\n\
                - {id: c, title: x, complexity: high}\n- {id: d, title: x, complexity: medium}\n\
                - {id: e, title: x}\n";
    let forge = Forge::of(&[("intents/i.yaml", &with("")), ("tasks/i.yaml", text)]);
    let annals = log();
    forge.import(&annals);
    let of: Vec<_> = tasks(&annals, "i").iter().map(|it| it.complexity).collect();
    let [low, med, high] = [Complexity::Low, Complexity::Med, Complexity::High].map(Some);
    assert_eq!(of, [low, med, high, med, None]);
}

#[test]
fn task_depends_on_is_within_the_same_intent() {
    let forge = Forge::of(&[
        ("intents/i.yaml", &with("")),
        ("intents/j.yaml", &with("")),
        ("tasks/i.yaml", "- {id: a, title: x}\n"),
        ("tasks/j.yaml", "- {id: b, title: x, depends_on: [a]}\n"),
    ]);
    let said = broken(&forge.import(&log()));
    assert!(
        said[0].starts_with("tasks/j.yaml:1: ") && said[0].contains("not a task of this"),
        "{said:?}"
    );
}

#[test]
fn review_every_field_in_both_spellings_of_the_verdict() {
    let forge = Forge::of(&[
        ("intents/i.yaml", &with("")),
        (
            "tasks/i.yaml",
            "- {id: a, title: x}\n- {id: b, title: x}\n- {id: c, title: x}\n",
        ),
        (
            "reviews/a.yaml",
            "task_id: a\nverdict: rejected\nissues: [根拠]\nsuggestions: [改善]\n",
        ),
        ("reviews/b.yaml", "approved: true\n"),
        (
            "reviews/c.yaml",
            "{\"task_id\": \"c\", \"verdict\": \"approved\", \"suggestions\": [\"x\"]}",
        ),
    ]);
    let annals = log();
    forge.import(&annals);
    let reviews: Vec<ReviewView> = tasks(&annals, "i")
        .into_iter()
        .flat_map(|it| it.reviews)
        .collect();
    let said: Vec<_> = reviews
        .iter()
        .map(|it| (it.verdict, it.issues.len(), it.suggestions.len()))
        .collect();
    let (yes, no) = (ReviewVerdict::Approved, ReviewVerdict::Rejected);
    assert_eq!(said, [(no, 1, 1), (yes, 0, 0), (yes, 0, 1)]);
}

#[test]
fn other_files_are_skipped_and_named() {
    let forge = Forge::of(&[
        ("intents/a.yaml", &with("")),
        ("intents/notes.txt", "x"),
        ("intents/b.yml", "x"),
    ]);
    let report = forge.import(&log());
    assert_eq!(
        (
            report.imported,
            report.broken_count,
            report.passed_over_count
        ),
        (1, 0, 2)
    );
}

#[test]
fn facts_are_recorded_by_the_system() {
    let forge = Forge::of(&[
        ("intents/i.yaml", &with("status: executing\n")),
        ("tasks/i.yaml", "- {id: t, title: x}\n"),
        ("reviews/t.yaml", "verdict: rejected\n"),
    ]);
    let annals = log();
    forge.import(&annals);
    let page = block_on(annals.log().read(Query::all(Position(1)))).unwrap();
    let types: Vec<&str> = page.records.iter().map(|it| it.event_type()).collect();
    for fact in ["intent.approved", "task.adopted", "task.review_recorded"] {
        assert!(types.contains(&fact), "{types:?}");
    }
    for record in &page.records {
        let actor = (record.actor_kind(), record.actor_id());
        assert_eq!(actor, ("system", "forge"), "{record:?}");
    }
}
