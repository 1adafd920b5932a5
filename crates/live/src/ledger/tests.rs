//! Ledgers, their files, and the verdicts of budgets.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use annals::domain::settings::OverBudget;
use annals_tool_policy::Verdict;
use tempfile::TempDir;

use super::*;
use crate::hook::HookAgent;

const MODEL: &str = "claude-opus-4-5";

fn now() -> Timestamp {
    Timestamp::from(annals::event_log::now())
}

fn today() -> NaiveDate {
    CostZone::Local.day_at(now())
}

fn budget(project: Option<&str>, period: BudgetPeriod, dollars: u64, then: OverBudget) -> Budget {
    Budget {
        project: project.map(str::to_owned),
        period,
        limit_micros: dollars * 1_000_000,
        then,
        number: 0,
    }
}

fn daily(dollars: u64) -> Budget {
    budget(Some("shop"), BudgetPeriod::Day, dollars, OverBudget::Ask)
}

fn cost(dollars: u64) -> LedgerCost {
    LedgerCost {
        micros: dollars * 1_000_000,
        unpriced_tokens: 0,
    }
}

/// 9 USD in `/work/shop` today, 5 of them in the session `s1`, and 2 in another project.
fn ledger(budgets: &[Budget]) -> Ledger {
    let day = |project: Option<&str>, dollars| DayCost {
        day: today(),
        project: project.map(str::to_owned),
        cost: cost(dollars),
    };
    Ledger {
        version: VERSION,
        log: Uuid::from_u128(7),
        position: 3,
        written_ms: now().to_utc().timestamp_millis(),
        budgets: budgets.to_vec(),
        days: vec![day(Some("/work/shop"), 9), day(Some("/work/web"), 2)],
        sessions: vec![SessionDayCost {
            day: today(),
            agent: "claude".to_owned(),
            session: "s1".to_owned(),
            project: Some("/work/shop".to_owned()),
            cost: cost(5),
        }],
    }
}

fn known(ledger: Ledger) -> LedgerState {
    LedgerState::Known(Box::new(ledger))
}

fn spending() -> Spending {
    Spending::new(HookAgent::Claude)
        .with_session(Some("s1".to_owned()))
        .with_folders(vec!["/work/shop".to_owned()])
        .with_model(Some(MODEL.to_owned()))
}

/// The verdict and the reason, or nothing.
fn judge(state: &LedgerState, spending: &Spending) -> Option<(Verdict, String)> {
    over_budget(state, spending, now()).map(|it| (it.verdict, it.reason))
}

#[test]
fn a_call_is_stopped_once_the_budget_is_used_up() {
    let judged = |budget: Budget| judge(&known(ledger(&[budget])), &spending());
    assert_eq!(judged(daily(10)), None);
    let (verdict, reason) = judged(daily(9)).unwrap();
    assert_eq!(verdict, Verdict::Ask);
    assert_eq!(
        reason,
        "budget 9/day for shop: it is used up: $9.0000 of $9.0000 this day"
    );
    let deny = budget(Some("/work"), BudgetPeriod::Month, 11, OverBudget::Deny);
    assert_eq!(judged(deny).unwrap().0, Verdict::Deny);
    let all = |dollars| budget(None, BudgetPeriod::Week, dollars, OverBudget::Deny);
    assert_eq!(judged(all(11)).unwrap().0, Verdict::Deny);
    assert_eq!(judged(all(12)), None);
    // Another project's budget says nothing of this one.
    assert_eq!(
        judged(budget(Some("web"), BudgetPeriod::Day, 1, OverBudget::Deny)),
        None
    );
}

#[test]
fn of_several_budgets_the_strongest_verdict_counts() {
    let ask = daily(1);
    let deny = budget(None, BudgetPeriod::Day, 1, OverBudget::Deny);
    for budgets in [[ask.clone(), deny.clone()], [deny, ask]] {
        let found = over_budget(&known(ledger(&budgets)), &spending(), now()).unwrap();
        assert_eq!(
            (found.verdict, found.name.as_str()),
            (Verdict::Deny, "budget 1/day")
        );
    }
}

#[test]
fn a_call_whose_cost_is_not_known_is_asked_about() {
    let state = known(ledger(&[daily(100)]));
    let (verdict, reason) = judge(&state, &spending().with_model(None)).unwrap();
    assert_eq!(verdict, Verdict::Ask);
    assert!(reason.contains("its model is not known"), "{reason}");
    let unpriced = spending().with_model(Some("new-model".to_owned()));
    let (verdict, reason) = judge(&state, &unpriced).unwrap();
    assert_eq!(verdict, Verdict::Ask);
    assert!(reason.contains("new-model has no price"), "{reason}");
    // A call to another project costs what it costs.
    let elsewhere = unpriced
        .with_session(None)
        .with_folders(vec!["/work/web".to_owned()]);
    assert_eq!(judge(&state, &elsewhere), None);
    let mut with_unpriced = ledger(&[budget(None, BudgetPeriod::Day, 100, OverBudget::Deny)]);
    with_unpriced.days[1].cost.unpriced_tokens = 5;
    let (verdict, reason) = judge(&known(with_unpriced), &spending()).unwrap();
    assert_eq!(verdict, Verdict::Ask);
    assert!(reason.contains("5 tokens that have no price"), "{reason}");
}

#[test]
fn an_old_ledger_is_asked_about_and_a_reason_states_its_age() {
    let aged = |minutes: i64, dollars| {
        let mut ledger = ledger(&[daily(dollars)]);
        ledger.written_ms -= minutes * 60_000;
        judge(&known(ledger), &spending())
    };
    assert_eq!(aged(59, 10), None);
    let (_, reason) = aged(30, 9).unwrap();
    assert!(reason.ends_with("this day, counted 30 min ago"), "{reason}");
    let (verdict, reason) = aged(180, 10).unwrap();
    assert_eq!(verdict, Verdict::Ask);
    assert!(reason.contains("it was counted 3 h ago"), "{reason}");
    let (_, reason) = aged(180, 9).unwrap();
    assert!(
        reason.contains("used up") && reason.contains("3 h ago"),
        "{reason}"
    );
    let (verdict, reason) = aged(-5, 10).unwrap();
    assert_eq!(verdict, Verdict::Ask);
    assert!(reason.contains("in the future"), "{reason}");
}

/// What a redaction takes from budgets and costs lifts no budget.
#[test]
fn a_removed_name_is_asked_about_or_denied() {
    let removed = || Some("[removed 0707070707070707.0]");
    let hidden = |then| budget(removed(), BudgetPeriod::Day, 100, then);
    let judged = |ledger: Ledger, spending: &Spending| judge(&known(ledger), spending);
    let (verdict, reason) = judged(ledger(&[hidden(OverBudget::Ask)]), &spending()).unwrap();
    assert_eq!(verdict, Verdict::Ask);
    assert!(
        reason.contains("the name of its project was removed"),
        "{reason}"
    );
    let deny = ledger(&[hidden(OverBudget::Deny)]);
    assert_eq!(judged(deny, &spending()).unwrap().0, Verdict::Deny);
    // The project of a cost, and so of the session that it is of.
    let elsewhere = spending().with_session(None);
    let mut costs = ledger(&[daily(100)]);
    costs.days[1].project = Some("[removed]".to_owned());
    let (verdict, reason) = judged(costs.clone(), &elsewhere).unwrap();
    assert_eq!(verdict, Verdict::Ask);
    assert!(
        reason.contains("the project of a cost was removed"),
        "{reason}"
    );
    // It is in the sum of all projects.
    costs.budgets = vec![budget(None, BudgetPeriod::Day, 100, OverBudget::Deny)];
    assert_eq!(judged(costs, &elsewhere), None);
    let mut session = ledger(&[budget(
        Some("web"),
        BudgetPeriod::Day,
        100,
        OverBudget::Deny,
    )]);
    session.sessions[0].project = Some("[removed]".to_owned());
    assert_eq!(judged(session, &spending()).unwrap().0, Verdict::Deny);
}

#[test]
fn costs_of_other_days_count_in_their_period() {
    let mut ledger = ledger(&[]);
    let yesterday = today().pred_opt().unwrap();
    ledger.days[0].day = yesterday;
    let used = |period| {
        ledger
            .used(&budget(Some("shop"), period, 1, OverBudget::Ask), today())
            .micros
    };
    assert_eq!(used(BudgetPeriod::Day), 0);
    let is_in = |period: BudgetPeriod| period.first_day(today()) <= yesterday;
    assert_eq!(used(BudgetPeriod::Week) > 0, is_in(BudgetPeriod::Week));
    assert_eq!(used(BudgetPeriod::Month) > 0, is_in(BudgetPeriod::Month));
}

/// The transcript has 30 USD, of which the ledger has 5: the rest is not in the log yet.
#[test]
fn the_use_of_the_session_itself_counts_before_it_is_imported() {
    let place = TempDir::new().unwrap();
    let transcript = place.path().join("s1.jsonl");
    let at = now().to_utc().to_rfc3339();
    let line = serde_json::json!({ "type": "assistant", "timestamp": at, "message": { "id": "m1", "model": MODEL,
        "usage": { "input_tokens": 1_000_000, "output_tokens": 1_000_000 } } });
    fs::write(&transcript, format!("{line}\n")).unwrap();
    let state = known(ledger(&[daily(34)]));
    let with = spending()
        .with_model(None)
        .with_transcript(Some(transcript));
    let (_, reason) = judge(&state, &with).unwrap();
    assert!(reason.contains("$34.0000 of $34.0000"), "{reason}");
    // The model is that of the transcript.
    assert_eq!(judge(&known(ledger(&[daily(35)])), &with), None);
}

#[test]
fn a_repository_within_a_project_is_no_way_out_of_its_budget() {
    let place = TempDir::new().unwrap();
    let shop = place.path().canonicalize().unwrap().join("shop");
    let inner = shop.join("inner");
    fs::create_dir_all(inner.join(".git")).unwrap();
    fs::create_dir_all(shop.join(".git/worktrees/w")).unwrap();
    let tree = place.path().join("w");
    fs::create_dir(&tree).unwrap();
    let git = format!("gitdir: {}\n", shop.join(".git/worktrees/w").display());
    fs::write(tree.join(".git"), git).unwrap();
    let by_path = budget(shop.to_str(), BudgetPeriod::Day, 1, OverBudget::Deny);
    let mut ledger = ledger(&[daily(1), by_path.clone()]);
    ledger.days[0].project = by_path.project;
    for folder in [&shop, &inner, &tree] {
        let text = folder.to_str().unwrap().to_owned();
        let there = spending().with_session(None).with_folders(vec![text]);
        let found = judge(&known(ledger.clone()), &there).unwrap();
        assert_eq!(found.0, Verdict::Deny, "{folder:?}");
    }
    assert_eq!(project_of(&tree), shop.to_str().unwrap());
    assert_eq!(project_of(&inner), inner.to_str().unwrap());
    // Where no folder is known, it may be any project.
    let nowhere = spending().with_session(None).with_folders(Vec::new());
    assert!(judge(&known(ledger), &nowhere).is_some());
}

fn file() -> (TempDir, LedgerFile) {
    let place = TempDir::new().unwrap();
    let log = place.path().join("log");
    fs::create_dir(&log).unwrap();
    let file = LedgerFile::of(log.to_str().unwrap()).unwrap();
    (place, file)
}

#[test]
fn a_ledger_is_read_as_it_was_written_by_its_user_alone() {
    let (place, file) = file();
    assert_eq!(file.read(), LedgerState::Absent);
    let ledger = ledger(&[daily(1)]);
    file.write(&ledger).unwrap();
    assert_eq!(file.read(), known(ledger.clone()));
    for name in ["LEDGER", "BUDGETS"] {
        let found = fs::metadata(place.path().join("log").join(name)).unwrap();
        assert_eq!(found.permissions().mode() & 0o137, 0, "{name}");
    }
    // Without budgets the second file goes.
    let without = Ledger {
        budgets: Vec::new(),
        ..ledger
    };
    file.write(&without).unwrap();
    assert_eq!(file.read(), known(without));
    assert!(!place.path().join("log/BUDGETS").exists());
    assert_eq!(fs::read_dir(place.path().join("log")).unwrap().count(), 1);
}

/// Whatever one of the two files becomes, a call under the budget is asked about, and never let through in silence.
#[test]
fn a_missing_or_changed_file_is_asked_about() {
    type Change<'a> = (&'a str, &'a dyn Fn(&std::path::Path));
    let changes: [Change<'_>; 6] = [
        ("missing", &|path| fs::remove_file(path).unwrap()),
        ("empty", &|path| fs::write(path, "").unwrap()),
        ("malformed", &|path| {
            fs::write(path, "{\"version\":1").unwrap()
        }),
        ("for others to write", &|path| {
            fs::set_permissions(path, fs::Permissions::from_mode(0o666)).unwrap();
        }),
        ("a link", &|path| {
            let elsewhere = path.with_extension("elsewhere");
            fs::rename(path, &elsewhere).unwrap();
            std::os::unix::fs::symlink(elsewhere, path).unwrap();
        }),
        ("a folder", &|path| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        }),
    ];
    for name in ["LEDGER", "BUDGETS"] {
        for (what, change) in &changes {
            let (place, file) = file();
            file.write(&ledger(&[daily(100)])).unwrap();
            assert_eq!(judge(&file.read(), &spending()), None);
            change(&place.path().join("log").join(name));
            let judged = judge(&file.read(), &spending());
            let verdict = judged.as_ref().map(|it| it.0);
            assert_eq!(verdict, Some(Verdict::Ask), "{name} is {what}: {judged:?}");
        }
    }
}

#[test]
fn a_ledger_without_the_budgets_that_are_known_otherwise_is_asked_about() {
    let (place, file) = file();
    file.write(&ledger(&[daily(100)])).unwrap();
    let path = place.path().join("log/LEDGER");
    for budgets in [vec![], vec![daily(1_000)]] {
        fs::write(&path, serde_json::to_vec(&ledger(&budgets)).unwrap()).unwrap();
        let (verdict, reason) = judge(&file.read(), &spending()).unwrap();
        assert_eq!(verdict, Verdict::Ask);
        assert!(reason.contains("different budgets"), "{reason}");
    }
    let other = Ledger {
        version: 99,
        ..ledger(&[daily(100)])
    };
    fs::write(&path, serde_json::to_vec(&other).unwrap()).unwrap();
    let (_, reason) = judge(&file.read(), &spending()).unwrap();
    assert!(reason.contains("another version"), "{reason}");
}
