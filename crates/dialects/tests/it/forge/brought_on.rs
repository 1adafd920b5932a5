//! A folder that is imported again after its files have changed.

use std::sync::Arc;

use annals::event_log::memory::MemoryLog;
use annals::{Annals, At, Request};
use annals_domain::intent::{ApproveIntent, JudgeIntent, RerunIntent, Risk};
use annals_domain::{ActorRef, IntentId, TaskId};
use futures::executor::block_on;

use super::{Forge, author, broken, log, passed_over, violations};

fn file(more: &str) -> String {
    format!("title: t\nbody: b\nsource: human\n{more}")
}

fn id(annals: &Annals, name: &str) -> IntentId {
    IntentId(block_on(annals.resolve(name)).unwrap().id)
}

/// An intent as JSON, with its tasks.
fn seen(annals: &Annals, name: &str) -> serde_json::Value {
    let view = block_on(annals.inbox().forge_view(id(annals, name), At::Now)).unwrap();
    serde_json::to_value(view).unwrap()
}

#[test]
fn an_intent_goes_on_from_proposed_to_done_as_its_files_do() {
    let forge = Forge::new();
    let annals = log();
    let steps = [
        ("status: proposed\n", "pending", "proposed"),
        (
            "status: proposed\nrisk: med\ntype: fix\n",
            "pending",
            "proposed",
        ),
        (
            "status: approved\nrisk: med\ntype: fix\n",
            "pending",
            "approved",
        ),
        (
            "status: executing\nrisk: med\ntype: fix\n",
            "implementing",
            "executing",
        ),
        ("status: error\nrisk: med\ntype: fix\n", "failed", "error"),
        (
            "status: executing\nrisk: med\ntype: fix\n",
            "implementing",
            "executing",
        ),
        ("status: done\nrisk: high\ntype: fix\n", "done", "done"),
    ];
    for (intent, task, status) in steps {
        forge.put("intents/i.yaml", file(intent));
        forge.put(
            "tasks/i.yaml",
            format!("- {{id: t, title: x, plan: p, status: {task}}}\n"),
        );
        let report = forge.import(&annals);
        assert_eq!(broken(&report), Vec::<String>::new(), "{intent}");
        assert_eq!(passed_over(&report), Vec::<String>::new(), "{intent}");
        assert_eq!(violations(&report), Vec::<String>::new(), "{intent}");
        let view = seen(&annals, "i");
        assert_eq!(
            (&view["status"], &view["tasks"][0]["status"]),
            (&status.into(), &task.into())
        );
        assert_eq!(view["tasks"].as_array().unwrap().len(), 1);
        assert_eq!(view["tasks"][0]["plan"], "p");
        let again = forge.import(&annals);
        assert_eq!(
            (again.imported, again.events_made),
            (0, 0),
            "{intent}: {again}"
        );
        let exported = Forge::new();
        exported.export(&annals);
        assert_eq!(exported.import(&annals).events_made, 0);
    }
    assert_eq!(seen(&annals, "i")["risk"], "high");
    // All of it is history.
    let history = block_on(annals.history(id(&annals, "i"))).unwrap();
    let names: Vec<&str> = history.iter().map(|entry| entry.event_type).collect();
    assert_eq!(
        names
            .iter()
            .filter(|name| **name == "intent.approved")
            .count(),
        1,
        "{names:?}"
    );
}

#[test]
fn questions_and_answers_are_added() {
    let forge = Forge::of(&[("intents/i.yaml", &file("status: executing\n"))]);
    let annals = log();
    let steps = [
        "clarifications: [{question: a?}]\n",
        "clarifications: [{question: a?, answer: 'yes'}, {question: b?}]\n",
        "clarifications: [{question: a?, answer: 'yes'}, {question: b?, answer: 'no'}]\n",
    ];
    for step in steps {
        forge.put(
            "intents/i.yaml",
            file(&format!("status: executing\n{step}")),
        );
        let report = forge.import(&annals);
        assert_eq!(
            (report.imported, report.violations_count),
            (1, 0),
            "{step}{report}"
        );
        assert_eq!(seen(&annals, "i")["status"], "executing");
    }
    let view = seen(&annals, "i");
    assert_eq!(
        view["clarifications"][1],
        serde_json::json!({"question": "b?", "answer": "no"})
    );
    // What was answered cannot be answered otherwise.
    forge.put(
        "intents/i.yaml",
        file("status: executing\nclarifications: [{question: a?, answer: maybe}]\n"),
    );
    let said = passed_over(&forge.import(&annals));
    assert!(
        said[0].contains("where clarifications has another value"),
        "{said:?}"
    );
}

#[test]
fn reviews_are_added_and_stay_with_what_is_taken_over_anew() {
    let forge = Forge::of(&[
        ("intents/i.yaml", &file("status: executing\n")),
        (
            "tasks/i.yaml",
            "- {id: t, title: x, status: implementing}\n",
        ),
        ("reviews/t.yaml", "verdict: rejected\nissues: [one]\n"),
    ]);
    let annals = log();
    forge.import(&annals);
    forge.put("reviews/t.yaml", "verdict: approved\n");
    forge.put(
        "tasks/i.yaml",
        "- {id: t, title: x, status: done, plan: p}\n",
    );
    forge.put("intents/i.yaml", file("status: done\n"));
    let report = forge.import(&annals);
    assert_eq!(violations(&report), Vec::<String>::new(), "{report}");
    let view = seen(&annals, "i");
    let verdicts: Vec<&str> = view["tasks"][0]["reviews"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["rejected", "approved"]);
    assert_eq!(forge.import(&annals).events_made, 0);
}

#[test]
fn what_this_log_decided_no_file_takes_back() {
    let forge = Forge::of(&[
        ("intents/i.yaml", &file("risk: med\n")),
        ("tasks/i.yaml", "- {id: t, title: x}\n"),
    ]);
    let annals = log();
    forge.import(&annals);
    let intent = id(&annals, "i");
    let approve = ApproveIntent::new(intent);
    block_on(annals.execute(Request::new(author(), approve))).unwrap();
    let judge = JudgeIntent::new(intent).with_risk(Risk::High);
    block_on(annals.execute(Request::new(author(), judge))).unwrap();
    let said = passed_over(&forge.import(&annals));
    let expected = "intents/i.yaml: it is in the log already, where risk, status have another value, \
                    and is left as it is there: this log has events of its own about it";
    assert_eq!(said, [expected]);
    assert_eq!(seen(&annals, "i")["risk"], "high");
    // New tasks of it are taken all the same.
    forge.put("tasks/i.yaml", "- {id: t, title: x}\n- {id: u, title: y}\n");
    assert_eq!(forge.import(&annals).notes, ["imported 1 task"]);
}

#[test]
fn what_no_event_leads_to_is_named() {
    let forge = Forge::of(&[
        ("intents/a.yaml", &file("status: approved\n")),
        ("intents/b.yaml", &file("risk: low\n")),
        ("intents/c.yaml", &file("status: rejected\n")),
    ]);
    let annals = log();
    forge.import(&annals);
    forge.put("intents/a.yaml", file("status: proposed\n"));
    forge.put("intents/b.yaml", file("labels: [x]\n"));
    forge.put("intents/c.yaml", file("status: approved\n"));
    let report = forge.import(&annals);
    let said = passed_over(&report);
    let fields = ["status has", "labels, risk have", "status has"];
    for (said, fields) in said.iter().zip(fields) {
        assert!(
            said.contains(&format!("where {fields} another value")),
            "{said}"
        );
    }
    assert_eq!(report.events_made, 0);
}

#[test]
fn a_superseded_task_does_not_come_back() {
    let forge = Forge::of(&[
        ("intents/i.yaml", &file("status: error\n")),
        ("tasks/i.yaml", "- {id: t, title: x, status: failed}\n"),
    ]);
    let annals = log();
    forge.import(&annals);
    let rerun = RerunIntent::new(id(&annals, "i"));
    block_on(annals.execute(Request::new(author(), rerun))).unwrap();
    let before: Vec<TaskId> = block_on(annals.inbox().forge_intent(id(&annals, "i"), At::Now))
        .unwrap()
        .tasks;
    assert_eq!(before.len(), 2);
    let report = forge.import(&annals);
    assert_eq!(report.events_made, 0, "{report}");
    // The new one has the old one's name.
    let exported = Forge::new();
    exported.export(&annals);
    let text = exported.get("tasks/i.yaml");
    assert!(text.contains("status: pending"), "{text}");
    assert!(!text.contains("failed"), "the old one is left out: {text}");
}

#[test]
fn a_question_that_comes_with_its_answer_takes_nothing_back() {
    let forge = Forge::of(&[("intents/i.yaml", &file("status: executing\n"))]);
    let annals = log();
    forge.import(&annals);
    forge.put(
        "intents/i.yaml",
        file("status: executing\nclarifications: [{question: a?, answer: b}]\n"),
    );
    let report = forge.import(&annals);
    assert_eq!(violations(&report), Vec::<String>::new(), "{report}");
    assert_eq!(seen(&annals, "i")["status"], "executing");
}

#[test]
fn what_is_stuck_does_not_hold_the_rest() {
    let forge = Forge::of(&[("intents/i.yaml", &file("retries: 0\n"))]);
    let annals = log();
    forge.import(&annals);
    forge.put("intents/i.yaml", file("retries: 1\nstatus: approved\n"));
    let report = forge.import(&annals);
    assert_eq!(seen(&annals, "i")["status"], "approved");
    assert!(
        passed_over(&report)[0].contains("unknown keys has"),
        "{report}"
    );
}

#[test]
fn the_same_review_again_is_a_review() {
    let forge = Forge::of(&[
        ("intents/i.yaml", &file("")),
        ("tasks/i.yaml", "- {id: t, title: x}\n"),
    ]);
    let annals = log();
    for verdict in ["rejected", "approved", "rejected"] {
        forge.put("reviews/t.yaml", format!("verdict: {verdict}\n"));
        forge.import(&annals);
    }
    assert_eq!(
        seen(&annals, "i")["tasks"][0]["reviews"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
}

#[test]
fn tasks_that_alone_changed_are_compared_with_their_intent() {
    let forge = Forge::of(&[
        ("intents/i.yaml", &file("status: executing\n")),
        ("tasks/i.yaml", "- {id: t, title: x}\n- {id: u, title: x}\n"),
    ]);
    let annals = log();
    forge.import(&annals);
    forge.put(
        "tasks/i.yaml",
        "- {id: t, title: x, status: done}\n- {id: u, title: x, status: done}\n",
    );
    let said = violations(&forge.import(&annals));
    assert!(
        said[0].contains("says executing") && said[0].contains("come to done"),
        "{said:?}"
    );
    // A task that is not in the file any more is named.
    forge.put("tasks/i.yaml", "- {id: t, title: x, status: done}\n");
    let said = passed_over(&forge.import(&annals));
    assert!(
        said[0].contains("the log has more tasks of this intent, which stay: \"u\""),
        "{said:?}"
    );
}

#[test]
fn what_looks_begun_because_all_of_it_is_settled_goes_on() {
    let forge = Forge::of(&[
        ("intents/p.yaml", &file("status: approved\n")),
        ("intents/c.yaml", &file("status: blocked\nparent: p\n")),
        (
            "tasks/c.yaml",
            "- {id: t, title: x, status: failed}\n- {id: u, title: x, status: done}\n",
        ),
    ]);
    let annals = log();
    forge.import(&annals);
    assert_eq!(seen(&annals, "p")["status"], "blocked");
    forge.put("intents/p.yaml", file("status: approved\ntype: audit\n"));
    let report = forge.import(&annals);
    assert_eq!(
        (report.imported, report.passed_over_count),
        (1, 0),
        "{report}"
    );
    assert_eq!(seen(&annals, "p")["type"], "audit");
    assert!(violations(&report)[0].contains("says approved"), "{report}");
}

#[test]
fn every_import_by_another_process_leaves_the_right_rows() {
    let mut log = Arc::new(MemoryLog::new(uuid::Uuid::from_u128(1)));
    let forge = Forge::of(&[
        ("intents/whole.yaml", &file("status: executing\n")),
        (
            "intents/i.yaml",
            &file("status: executing\nparent: whole\n"),
        ),
    ]);
    let steps = [
        ["pending", "pending"],
        ["implementing", "pending"],
        ["failed", "failed"],
        ["done", "failed"],
        ["done", "implementing"],
        ["done", "done"],
        ["pending", "done"],
        ["cancelled", "failed"],
    ];
    for words in steps {
        let tasks = words.iter().enumerate();
        let tasks = tasks.map(|(n, word)| format!("- {{id: t{n}, title: x, status: {word}}}\n"));
        forge.put("tasks/i.yaml", tasks.collect::<String>());
        let annals = Annals::over(log.clone());
        // The rows that were kept are all that it begins with; they are checked.
        forge.import(&annals);
        block_on(annals.close());
        log = Arc::new(log.reopen());
    }
}

#[test]
fn a_review_stays_that_of_its_task_when_another_one_gets_the_name() {
    let forge = Forge::of(&[
        ("intents/a.yaml", &file("")),
        ("tasks/a.yaml", "- {id: t, title: x}\n"),
        ("reviews/t.yaml", "verdict: rejected\n"),
    ]);
    let annals = log();
    forge.import(&annals);
    forge.put("intents/b.yaml", file(""));
    forge.put("tasks/b.yaml", "- {id: t, title: x}\n");
    assert_eq!(broken(&forge.import(&annals)), Vec::<String>::new());
}

/// Of an intent that came from a folder, a task that was made here: nothing of the folder depends on it, and
/// what waits for such a task is not taken either.
#[test]
fn no_task_of_a_folder_depends_on_one_that_was_made_here() {
    let forge = Forge::of(&[
        ("intents/i.yaml", &file("status: error\n")),
        (
            "tasks/i.yaml",
            "- {id: t, title: x, status: failed}\n- {id: u, title: y, status: failed}\n",
        ),
    ]);
    let annals = log();
    forge.import(&annals);
    let rerun = RerunIntent::new(id(&annals, "i"));
    block_on(annals.execute(Request::new(author(), rerun))).unwrap();
    let tasks = "- {id: late, title: l, depends_on: [v]}\n- {id: v, title: v, depends_on: [t]}\n\
                 - {id: free, title: f}\n- {id: t, title: x}\n- {id: u, title: y}\n";
    forge.put("tasks/i.yaml", tasks);
    let report = forge.import(&annals);
    let said = broken(&report);
    assert_eq!(said.len(), 2, "{report}");
    assert!(
        said[0].starts_with(
            "tasks/i.yaml:1: its task \"late\" is not taken: it depends on a task of the file"
        ),
        "{said:?}"
    );
    assert!(
        said[1]
            .contains("its task \"v\" is not taken: it depends on \"t\", and nothing of a folder"),
        "{said:?}"
    );
    assert_eq!(report.notes, ["imported 1 task"]);
    // Once that is taken out, they are.
    forge.put("tasks/i.yaml", tasks.replace(", depends_on: [t]", ""));
    assert_eq!(forge.import(&annals).notes, ["imported 2 tasks"]);
}

#[test]
fn an_import_that_an_agent_runs_approves_no_intent_of_an_agent() {
    let audit = |more: &str| format!("title: t\nbody: b\nsource: audit\n{more}");
    let forge = Forge::of(&[
        ("intents/own.yaml", &audit("risk: high\nstatus: approved\n")),
        ("intents/done.yaml", &audit("status: done\n")),
        ("intents/low.yaml", &audit("risk: low\nstatus: approved\n")),
        ("intents/a-person.yaml", &file("status: approved\n")),
        ("tasks/own.yaml", "- {id: t, title: x, status: done}\n"),
    ]);
    let status = |annals: &Annals, name: &str| seen(annals, name)["status"].clone();
    for author in [ActorRef::agent("x"), ActorRef::system("ci")] {
        let annals = log();
        for _ in 0..2 {
            let report = forge.import_by(author.clone(), &annals);
            assert_eq!(status(&annals, "own"), "proposed");
            assert_eq!(status(&annals, "done"), "proposed");
            assert_eq!(status(&annals, "low"), "approved");
            assert_eq!(status(&annals, "a-person"), "proposed");
            let said = violations(&report);
            assert_eq!(said.len(), 3, "{said:?}");
            let why = "does not approve it: it waits for a person";
            assert!(said.iter().all(|it| it.ends_with(why)), "{said:?}");
        }
        // Nor by a risk that it says later, of a person's intent by another source, either.
        forge.put("intents/own.yaml", audit("risk: low\nstatus: approved\n"));
        for more in ["source: human\n", "source: audit\n"] {
            let text = format!("title: t\nbody: b\nrisk: low\nstatus: approved\n{more}");
            forge.put("intents/a-person.yaml", text);
            forge.import_by(author.clone(), &annals);
            assert_eq!(status(&annals, "a-person"), "proposed", "{more}");
        }
        forge.put("intents/a-person.yaml", file("status: approved\n"));
        let said = violations(&forge.import_by(author, &annals));
        assert_eq!(status(&annals, "own"), "proposed");
        let risk = "its file says low, and the log has the risk high, which counts";
        assert!(said.iter().any(|it| it.contains(risk)), "{said:?}");
        forge.put("intents/own.yaml", audit("risk: high\nstatus: approved\n"));
        // A person who imports the folder lets it go.
        forge.import(&annals);
        assert_eq!(status(&annals, "own"), "done");
    }
}
