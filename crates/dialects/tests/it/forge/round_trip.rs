//! What was imported is exported with the same content, compared as data.

use annals_dialects::forge::data::{Data, Extra, Scalar};
use annals_dialects::forge::{
    Clarification, ForgeIntent, ForgeReview, ForgeTask, IntentStatus, TaskStatus, intent, render,
    review, task,
};
use annals_domain::intent::{Risk, Source, WorkType};
use annals_domain::task::{Complexity, ReviewVerdict};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::{Forge, broken, log, passed_over, violations};
use crate::cases;

const NAMES: [&str; 9] = [
    "a",
    "login-reset",
    "ログイン",
    "my idea",
    "20260101",
    "deadbeef",
    "x.y",
    "My-Idea",
    "0192f0c1-2b3c-7d4e-8f50-617283940a1b",
];

/// An intent of a folder, with what belongs to it.
#[derive(Debug, Clone)]
struct Made {
    name: String,
    intent: ForgeIntent,
    tasks: Vec<(ForgeTask, Option<ForgeReview>)>,
}

fn text() -> impl Strategy<Value = String> {
    let odd = [
        "",
        "a",
        "日本語の本文",
        "two\n\nparagraphs\n",
        "\n lead",
        "trail \n",
        "a\r\nb",
        "- x: #y",
        "null",
        "012",
        "🚀 \u{2028}",
    ];
    prop::sample::select(odd.to_vec()).prop_map(str::to_owned)
}

fn name() -> impl Strategy<Value = String> {
    text().prop_map(|text| match text.trim().is_empty() {
        true => format!("x{text}"),
        false => text,
    })
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(text(), 0..3)
}

fn extra() -> impl Strategy<Value = Extra> {
    let pairs = prop::collection::vec(("[a-z]{1,3}", text(), "[0-9]{1,3}"), 0..3);
    pairs.prop_map(|pairs| {
        let mut extra = Extra::default();
        for (key, text, number) in pairs {
            let key = format!("x_{key}");
            if extra.get(&key).is_none() {
                let number = Data::Scalar(Scalar::Bare(number));
                let text = Data::Scalar(Scalar::Text(text));
                extra
                    .0
                    .push((Scalar::Text(key), Data::List(vec![number, text])));
            }
        }
        extra
    })
}

fn clarifications() -> impl Strategy<Value = Vec<Clarification>> {
    let one = (name(), prop::option::of(text()), extra());
    let one = one.prop_map(|(question, answer, extra)| Clarification {
        question,
        answer,
        extra,
    });
    prop::collection::vec(one, 0..3)
}

fn created_at() -> impl Strategy<Value = Option<String>> {
    let spellings = [
        "2026-01-02T03:04:05Z",
        "2026-01-02T03:04:05.120+09:00",
        "2026-01-02",
        "yesterday",
    ];
    prop::option::of(prop::sample::select(spellings.to_vec()).prop_map(str::to_owned))
}

fn of_words<T: Copy + std::fmt::Debug + 'static>(words: &'static [T]) -> impl Strategy<Value = T> {
    prop::sample::select(words)
}

fn work_type() -> impl Strategy<Value = WorkType> {
    let words = [
        "feature", "fix", "audit", "docs", "文書", "012", "null", "a: b",
    ];
    prop::sample::select(words.to_vec()).prop_map(WorkType::from_word)
}

fn an_intent() -> impl Strategy<Value = ForgeIntent> {
    let words = (
        of_words(Source::ALL),
        prop::option::of(work_type()),
        prop::option::of(of_words(Risk::ALL)),
        of_words(IntentStatus::ALL),
    );
    let labels = prop::collection::vec(name(), 0..3);
    let said = (
        name(),
        text(),
        created_at(),
        labels,
        clarifications(),
        extra(),
    );
    (words, said).prop_map(
        |((source, work_type, risk, status), (title, body, created_at, labels, asked, extra))| {
            ForgeIntent {
                title,
                body,
                source,
                work_type,
                risk,
                status,
                parent: None,
                created_at,
                labels,
                clarifications: asked,
                depends_on: Vec::new(),
                extra,
            }
        },
    )
}

fn a_review() -> impl Strategy<Value = ForgeReview> {
    let said = (of_words(ReviewVerdict::ALL), texts(), texts(), extra());
    said.prop_map(|(verdict, issues, suggestions, extra)| ForgeReview {
        task_id: String::new(),
        verdict,
        issues,
        suggestions,
        extra,
    })
}

fn a_task() -> impl Strategy<Value = (ForgeTask, Option<ForgeReview>)> {
    let words = (
        of_words(TaskStatus::ALL),
        prop::option::of(of_words(Complexity::ALL)),
    );
    let said = (
        name(),
        prop::option::of(text()),
        texts(),
        texts(),
        prop::option::of(text()),
        extra(),
    );
    (words, said, prop::option::of(a_review())).prop_map(
        |((status, complexity), (title, plan, files, steps, context, extra), review)| {
            let task = ForgeTask {
                id: String::new(),
                title,
                intent_id: String::new(),
                status,
                complexity,
                plan,
                relevant_files: files,
                implementation_steps: steps,
                context,
                depends_on: Vec::new(),
                extra,
            };
            (task, review)
        },
    )
}

/// Folders in which every status is what the tasks and parts come to.
fn a_folder() -> impl Strategy<Value = Vec<Made>> {
    let one = (
        an_intent(),
        prop::collection::vec(a_task(), 0..4),
        any::<prop::sample::Index>(),
        any::<[bool; 3]>(),
    );
    prop::collection::vec(one, 1..=NAMES.len()).prop_map(|made| {
        let mut folder = Vec::new();
        for (index, (intent, tasks, pick, [has_parent, waits, _])) in made.iter().enumerate() {
            let mut one = Made {
                name: NAMES[index].to_owned(),
                intent: intent.clone(),
                tasks: tasks.clone(),
            };
            if index > 0 && *has_parent {
                one.intent.parent = Some(NAMES[pick.index(index)].to_owned());
            }
            if index > 0 && *waits {
                one.intent.depends_on = vec![NAMES[pick.index(index)].to_owned()];
            }
            folder.push(one);
        }
        settle(folder)
    })
}

/// Makes what was made at random hang together.
fn settle(mut folder: Vec<Made>) -> Vec<Made> {
    let parents: Vec<String> = folder
        .iter()
        .filter_map(|it| it.intent.parent.clone())
        .collect();
    for (index, made) in folder.iter_mut().enumerate() {
        let is_parent = parents.contains(&made.name);
        if is_parent {
            made.tasks.clear();
        }
        if goes_on(&made.intent) && (is_parent || !made.tasks.is_empty()) {
            // What has parts has their status.
            made.intent.risk = Some(Risk::High);
        }
        // What waits waits for what has no parts, and has none itself.
        if is_parent || made.intent.depends_on.iter().any(|it| parents.contains(it)) {
            made.intent.depends_on.clear();
        }
        let mut before = Vec::new();
        for (number, (task, review)) in made.tasks.iter_mut().enumerate() {
            // Some are called by ids.
            task.id = match number {
                2 => uuid::Uuid::from_u128((index * 16 + number) as u128).to_string(),
                _ => format!("t{index} {number}"),
            };
            task.intent_id.clone_from(&made.name);
            if number > 0 {
                // Also upwards: the order in the file does not matter.
                task.depends_on.clone_from(&before);
            }
            before = vec![task.id.clone()];
            if let Some(review) = review {
                review.task_id.clone_from(&task.id);
            }
        }
        made.tasks.reverse();
    }
    // From the last to the first: children come after their parents.
    for index in (0..folder.len()).rev() {
        let children: Vec<IntentStatus> = folder
            .iter()
            .filter(|it| it.intent.parent.as_ref() == Some(&folder[index].name))
            .map(|it| it.intent.status)
            .collect();
        let made = &folder[index];
        let status = status(&made.intent, &children, &made.tasks);
        folder[index].intent.status = status;
    }
    folder
}

/// What an intent's status comes to, computed separately here.
fn status(
    intent: &ForgeIntent,
    children: &[IntentStatus],
    tasks: &[(ForgeTask, Option<ForgeReview>)],
) -> IntentStatus {
    use IntentStatus as S;
    let of_tasks = tasks.iter().map(|(task, _)| match task.status {
        TaskStatus::Pending | TaskStatus::Implementing => Some("open"),
        TaskStatus::Done => Some("done"),
        TaskStatus::Failed => Some("failed"),
        TaskStatus::Cancelled => None,
    });
    let of_children = children.iter().map(|status| match status {
        S::Proposed | S::Approved | S::Executing => Some("open"),
        S::Done => Some("done"),
        S::Error => Some("failed"),
        S::Blocked => Some("blocked"),
        S::Rejected | S::Cancelled => None,
    });
    let parts: Vec<&str> = of_tasks.chain(of_children).flatten().collect();
    let all = |word: &str| !parts.is_empty() && parts.iter().all(|part| *part == word);
    let mut questions = intent.clarifications.iter();
    let asks = questions.any(|it| it.answer.is_none());
    let aggregate = match () {
        () if parts.contains(&"open") => S::Executing,
        () if all("done") && asks => S::Executing,
        () if all("done") => S::Done,
        () if all("failed") => S::Error,
        () if tasks.is_empty() && children.is_empty() => S::Executing,
        () => S::Blocked,
    };
    match intent.status {
        said @ (S::Proposed | S::Rejected | S::Cancelled) => said,
        S::Approved if aggregate == S::Executing => S::Approved,
        S::Done if tasks.is_empty() && children.is_empty() => S::Done,
        _ => aggregate,
    }
}

/// Whether the system approves what the file only proposes.
fn goes_on(intent: &ForgeIntent) -> bool {
    intent.source != Source::Human
        && intent.risk == Some(Risk::Low)
        && intent.status == IntentStatus::Proposed
}

/// The content of a folder, as it is once what may go on by itself did.
fn gone_on(forge: &Forge) -> (Content, u64) {
    let mut content = content(forge);
    let mut count = 0;
    for (_, intent) in content.intents.iter_mut().filter(|(_, it)| goes_on(it)) {
        intent.status = IntentStatus::Approved;
        count += 1;
    }
    (content, count)
}

fn write(folder: &[Made]) -> Forge {
    let forge = Forge::new();
    for made in folder {
        let text = render::intent(&made.intent);
        forge.put(&format!("intents/{}.yaml", made.name), text);
        let tasks: Vec<&ForgeTask> = made.tasks.iter().map(|(task, _)| task).collect();
        if !tasks.is_empty() {
            let text = render::tasks(tasks);
            forge.put(&format!("tasks/{}.yaml", made.name), text);
        }
        for review in made.tasks.iter().filter_map(|(_, review)| review.as_ref()) {
            let text = render::review(review);
            forge.put(&format!("reviews/{}.yaml", review.task_id), text);
        }
    }
    forge
}

/// All files of a folder, as data.
#[derive(Debug, PartialEq)]
struct Content {
    intents: Vec<(String, ForgeIntent)>,
    tasks: Vec<(String, Vec<ForgeTask>)>,
    reviews: Vec<(String, ForgeReview)>,
    drafts: Vec<String>,
}

fn content(forge: &Forge) -> Content {
    let stems = |part: &str| -> Vec<String> {
        let names = forge.names(part).into_iter();
        names
            .map(|name| name.trim_end_matches(".yaml").to_owned())
            .collect()
    };
    let read = |part: &str, stem: &str| forge.get(&format!("{part}/{stem}.yaml"));
    Content {
        intents: stems("intents")
            .into_iter()
            .map(|stem| (stem.clone(), intent::read(&read("intents", &stem)).unwrap()))
            .collect(),
        tasks: stems("tasks")
            .into_iter()
            .map(|stem| {
                let file = task::read(&read("tasks", &stem), &stem).unwrap();
                assert_eq!(file.errors, []);
                (
                    stem,
                    file.tasks.into_iter().map(|placed| placed.task).collect(),
                )
            })
            .collect(),
        reviews: stems("reviews")
            .into_iter()
            .map(|stem| {
                let text = read("reviews", &stem);
                (stem.clone(), review::read(&text, &stem).unwrap())
            })
            .collect(),
        drafts: forge.names("intent-drafts"),
    }
}

#[test]
fn an_export_of_an_imported_folder_is_the_same_content() {
    let mut runner = TestRunner::new(cases(96));
    let held = runner.run(&a_folder(), |folder| {
        let forge = write(&folder);
        let annals = log();
        let report = forge.import(&annals);
        prop_assert_eq!(broken(&report), Vec::<String>::new());
        prop_assert_eq!(violations(&report), Vec::<String>::new());
        let exported = Forge::new();
        exported.export(&annals);
        let (expected, count) = gone_on(&forge);
        prop_assert_eq!(content(&exported), expected);
        // The source itself is left as it is, and says nothing else, but for what went on.
        let into_source = forge.export(&annals);
        prop_assert_eq!(
            (into_source.written, into_source.left_alone_count),
            (0, count)
        );
        // Neither folder has anything new.
        for again in [&forge, &exported] {
            let report = again.import(&annals);
            prop_assert_eq!((report.imported, report.events_made), (0, 0));
            prop_assert_eq!(passed_over(&report), Vec::<String>::new());
            prop_assert_eq!(broken(&report), Vec::<String>::new());
        }
        // Another log makes the same of it.
        let other = log();
        exported.import(&other);
        let third = Forge::new();
        third.export(&other);
        prop_assert_eq!(content(&third), gone_on(&forge).0);
        Ok(())
    });
    held.unwrap();
}

#[test]
fn one_file_of_each_kind_comes_back_with_its_unknown_keys() {
    let intent = "title: パスワードリセット\nbody: |\n  手段がない。\nsource: human\ntype: feature\n\
                  risk: med\nstatus: executing\ncreated_at: 2026-01-03 10:00\nlabels: ui\n\
                  clarifications:\n  - {question: どの画面?, answer: ログイン, by: agent}\n  \
                  - {question: mail?, answer: ''}\nowner: {team: web, since: 2025-01-01}\nn: 012\n";
    let tasks = "- {id: t2, title: link, status: implementing, complexity: medium, \
                 depends_on: [t1], cost: 1e3}\n- {id: t1, title: route, status: completed}\n";
    let files = [
        ("intents/reset.yaml", intent),
        ("tasks/reset.yaml", tasks),
        (
            "reviews/t1.yaml",
            "approved: true\nsuggestions: [名前]\nreviewer: bot\n",
        ),
        (
            "intent-drafts/crash.md",
            "---\nlabels: [ui]\n---\nCrash\n\nOn save.\n",
        ),
    ];
    let forge = Forge::of(&files);
    let before = content(&Forge::of(&files[..3]));
    let annals = log();
    let report = forge.import(&annals);
    assert_eq!(broken(&report), Vec::<String>::new());
    assert_eq!(
        report.notes,
        ["imported 1 intent, 2 tasks, 1 review, 1 draft"]
    );
    let exported = Forge::new();
    exported.export(&annals);
    let mut after = content(&exported);
    // The draft is an intent now, and consumed.
    let crash = after.intents.remove(0);
    assert_eq!(crash.0, "crash");
    assert_eq!(
        (crash.1.title.as_str(), crash.1.source),
        ("Crash", Source::Human)
    );
    assert_eq!(forge.names("intent-drafts"), Vec::<String>::new());
    assert_eq!(after, before);
    let text = exported.get("intents/reset.yaml");
    assert!(
        text.contains("since: 2025-01-01") && text.contains("\nn: 012"),
        "{text}"
    );
    assert!(exported.get("tasks/reset.yaml").contains("cost: 1e3"));
}
