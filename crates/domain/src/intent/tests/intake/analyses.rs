//! What an analysis of an intent came to (docs/spec/forge.md).

use super::*;

fn approved() -> Given {
    Given::new().command(risky(1, Risk::Low))
}

fn analyzed_task(id: &str) -> AnalyzedTask {
    AnalyzedTask {
        id: id.into(),
        title: "work".into(),
        complexity: None,
        plan: None,
        relevant_files: vec![],
        implementation_steps: vec![],
        context: None,
        depends_on: vec![],
        extra: None,
    }
}

#[test]
fn an_analysis_that_came_to_nothing_is_refused() {
    let nothing = RecordAnalysis::new(intent(1));
    let refusal = approved().decide(nothing.clone()).unwrap_err().to_string();
    assert!(refusal.contains("one of them must be given"), "{refusal}");
    let unread = RecordAnalysis {
        analysis: Some(crate::testing::json(r#""I could not do it.""#)),
        ..nothing
    };
    check_blank(approved().decide(unread), "analysis");
}

#[test]
fn each_task_of_an_analysis_has_an_id() {
    let with_id = |id: &str| RecordAnalysis {
        tasks: vec![analyzed_task("a"), analyzed_task(id)],
        ..RecordAnalysis::new(intent(1))
    };
    assert!(approved().decide(with_id("b")).is_ok());
    for blank in ["", " "] {
        check_blank(approved().decide(with_id(blank)), "tasks.id");
    }
}

#[test]
fn a_child_has_the_source_of_its_parent_or_human_if_that_has_none() {
    let audited = Given::new().command(SubmitIntent {
        source: Source::Audit,
        ..risky(1, Risk::Low)
    });
    let never_taken_in = Given::new().command(create()).command(approve(1));
    for (given, source) in [(audited, Source::Audit), (never_taken_in, Source::Human)] {
        let split = RecordAnalysis {
            child_intents: vec![ChildIntent::new("a part")],
            ..RecordAnalysis::new(intent(1))
        };
        let emitted = given.decide(split).expect("accepted");
        let found = emitted.iter().find_map(|one| match &one.event {
            AnyEvent::Intent(Event::TakenIn(event)) => Some(event.source),
            _ => None,
        });
        assert_eq!(found, Some(source));
    }
}
