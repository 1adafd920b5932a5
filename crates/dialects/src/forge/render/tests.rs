//! What is rendered reads back as what it was.

use proptest::prelude::*;

use super::*;
use crate::forge::{IntentStatus, TaskStatus, intent as intents, review as reviews, task as files};
use annals_domain::intent::{Risk, Source, WorkType};
use annals_domain::task::{Complexity, ReviewVerdict};

#[test]
fn the_keys_are_in_the_order_of_the_spec() {
    let text = intent(&ForgeIntent {
        title: "t".to_owned(),
        body: "b\n".to_owned(),
        source: Source::Epiphany,
        work_type: Some(WorkType::Audit),
        risk: Some(Risk::Low),
        status: IntentStatus::Done,
        parent: Some("p".to_owned()),
        created_at: Some("2025-01-01".to_owned()),
        labels: vec!["l".to_owned()],
        clarifications: vec![Clarification {
            question: "q".to_owned(),
            answer: Some("yes".to_owned()),
            extra: Extra::default(),
        }],
        depends_on: vec!["d".to_owned()],
        extra: Extra(vec![
            (
                Scalar::Text("x".to_owned()),
                Data::Scalar(Scalar::Bare("1".to_owned())),
            ),
            (Scalar::Text("title".to_owned()), Data::text("not again")),
        ]),
    });
    let expected = "title: t\nbody: |\n  b\nsource: epiphany\ntype: audit\nrisk: low\nstatus: done\n\
                    parent: p\ncreated_at: 2025-01-01\nlabels:\n  - l\nclarifications:\n  - \
                    question: q\n    answer: \"yes\"\ndepends_on:\n  - d\nx: 1\n";
    assert_eq!(text, expected);
}

#[test]
fn a_task_has_its_keys_in_order_and_nothing_that_is_empty() {
    let text = tasks(&[ForgeTask {
        id: "1".to_owned(),
        title: "t".to_owned(),
        intent_id: "i".to_owned(),
        status: TaskStatus::Pending,
        complexity: None,
        plan: None,
        relevant_files: vec![],
        implementation_steps: vec![],
        context: None,
        depends_on: vec![],
        extra: Extra::default(),
    }]);
    assert_eq!(
        text,
        "- id: \"1\"\n  title: t\n  intent_id: i\n  status: pending\n"
    );
    assert_eq!(tasks(&[]), "[]\n");
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ a:#\\-|>~'\"\\\\\\n\\r\\t,&*!\u{85}\u{2028}日🚀]{0,10}",
        prop::sample::select(vec![
            "true", "null", "~", "1.0", "", "- a", "a\n", "a\r\nb", " a"
        ])
        .prop_map(str::to_owned),
    ]
}

fn name() -> impl Strategy<Value = String> {
    text().prop_map(|text| {
        if text.trim().is_empty() {
            "x".to_owned() + &text
        } else {
            text
        }
    })
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(text(), 0..3)
}

fn extra() -> impl Strategy<Value = Extra> {
    let value = prop_oneof![
        text().prop_map(Data::text),
        texts().prop_map(|texts| Data::List(texts.into_iter().map(Data::text).collect())),
        "[0-9][0-9.:_e-]{0,8}".prop_map(|text| Data::Scalar(Scalar::bare(text))),
    ];
    let pairs = prop::collection::vec((text(), value), 0..3);
    pairs.prop_map(|pairs| {
        let mut extra = Extra::default();
        for (key, value) in pairs {
            let key = format!("x{key}");
            if extra.get(&key).is_none() {
                extra.0.push((Scalar::Text(key), value));
            }
        }
        extra
    })
}

fn word<T: Word + std::fmt::Debug>() -> impl Strategy<Value = T> {
    prop::sample::select(T::ALL)
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

prop_compose! {
    fn any_intent()(
        (title, body, source) in (name(), text(), word::<Source>()),
        (work_type, risk, status) in (
            prop::option::of(prop::sample::select(WorkType::LISTED)),
            prop::option::of(word::<Risk>()),
            word::<IntentStatus>(),
        ),
        (parent, created_at) in (prop::option::of(name()), prop::option::of(text())),
        labels in prop::collection::vec(name(), 0..3),
        (clarifications, depends_on, extra) in (clarifications(), texts(), extra()),
    ) -> ForgeIntent {
        ForgeIntent {
            title, body, source, work_type, risk, status, parent, created_at, labels,
            clarifications, depends_on, extra,
        }
    }
}

prop_compose! {
    fn any_task()(
        (id, title, status) in (name(), name(), word::<TaskStatus>()),
        complexity in prop::option::of(word::<Complexity>()),
        (plan, context) in (prop::option::of(text()), prop::option::of(text())),
        (relevant_files, implementation_steps, depends_on) in (texts(), texts(), texts()),
        extra in extra(),
    ) -> ForgeTask {
        ForgeTask {
            id, title, intent_id: "意図 1".to_owned(), status, complexity, plan, relevant_files,
            implementation_steps, context, depends_on, extra,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_intent_is_read_as_it_was_written(written in any_intent()) {
        let text = intent(&written);
        prop_assert_eq!(intents::read(&text), Ok(written), "{}", text);
    }

    #[test]
    fn any_tasks_are_read_as_they_were_written(written in prop::collection::vec(any_task(), 0..4)) {
        let text = tasks(&written);
        let file = files::read(&text, "意図 1").unwrap();
        prop_assert_eq!(file.errors, vec![]);
        let read: Vec<ForgeTask> = file.tasks.into_iter().map(|placed| placed.task).collect();
        prop_assert_eq!(read, written, "{}", text);
    }

    #[test]
    fn any_review_is_read_as_it_was_written(
        verdict in word::<ReviewVerdict>(),
        (task_id, issues, suggestions, extra) in (name(), texts(), texts(), extra()),
    ) {
        let written = ForgeReview { task_id: task_id.clone(), verdict, issues, suggestions, extra };
        let text = review(&written);
        prop_assert_eq!(reviews::read(&text, &task_id), Ok(written), "{}", text);
    }
}
