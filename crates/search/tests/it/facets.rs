//! What is searched where.

use annals::At;
use annals::blocking::Wait;
use annals::domain::Kind;
use annals::domain::pipeline::FrameKind;
use annals::event_log::Position;
use annals_search::{Count, Facet, Query, SearchRequest, Using};

use crate::support::{Home, NOTHING, ask, found, positions};

#[test]
fn each_text_is_found_where_it_belongs() {
    let home = Home::new();
    let search = home.search();
    let prompt = home.submit("Paginate GET /users in userList.go");
    let call = home.tool(
        "Bash",
        r#"{"command":"go test ./...","timeout":60000}"#,
        "--- FAIL: TestPagination (0.00s)",
    );
    let by = home.annals.by(&home.ada);
    by.push_frame(home.pipeline, FrameKind::ToolCall, "ok cli 0.3s")
        .wait()
        .unwrap();
    let shown = home.annals.position().0;
    by.push_frame(
        home.pipeline,
        FrameKind::StepSummary,
        "I will paginate the users",
    )
    .wait()
    .unwrap();
    let said = home.annals.position().0;

    assert_eq!(found(&search, "paginate users"), [prompt, said]);
    assert_eq!(found(&search, "userlist.go"), [prompt]);
    assert_eq!(found(&search, "bash 60000"), [call]);
    assert_eq!(
        found(&search, "\"go test\" testpagination"),
        [call],
        "arguments and results of one call"
    );
    assert_eq!(found(&search, "cli"), [shown]);
    assert_eq!(
        found(&search, "command"),
        NOTHING,
        "names of fields are not searched"
    );
    assert_eq!(found(&search, "paginate -get"), [said]);

    let of = |facet: Facet, question: &str| {
        let request = SearchRequest::new(Query::parse(question).unwrap()).with_facets(vec![facet]);
        let answer = search
            .ask(&request, Using::Index, &mut |_| {})
            .wait()
            .unwrap();
        assert!(
            answer.hits.iter().all(|hit| hit.facet == facet),
            "{answer:?}"
        );
        positions(&answer)
    };
    assert_eq!(of(Facet::Prompts, "paginate"), [prompt]);
    assert_eq!(of(Facet::Rationale, "paginate"), [said]);
    assert_eq!(of(Facet::Tools, "test"), [call]);
    assert_eq!(of(Facet::Results, "\"go test\""), NOTHING);
    assert_eq!(of(Facet::Results, "fail"), [call]);
    assert_eq!(of(Facet::Results, "ok"), [shown]);
}

#[test]
fn a_beginning_is_no_pattern() {
    let home = Home::new();
    let search = home.search();
    // Folded, these are (1)a and 1.a, and not the same.
    let in_brackets = home.submit("⑴apple");
    let with_point = home.submit("⒈apple");
    assert_eq!(found(&search, "⑴ap*"), [in_brackets]);
    assert_eq!(found(&search, "⒈ap*"), [with_point]);
}

#[test]
fn filters_and_orders() {
    let home = Home::new();
    let search = home.search();
    let first = home.submit("needle needle needle");
    let second = home.tool("needle", "{}", "hay");
    let third = home.submit("hay, a needle, and hay, and hay, and more hay");
    let all = |request: SearchRequest, using| {
        let answer = search.ask(&request, using, &mut |_| {}).wait().unwrap();
        answer
            .hits
            .iter()
            .map(|hit| hit.position.0)
            .collect::<Vec<u64>>()
    };
    let needle = || SearchRequest::new(Query::parse("needle").unwrap());
    assert_eq!(all(needle(), Using::Index).len(), 3);
    for using in [Using::Index, Using::Log] {
        assert_eq!(
            all(needle().with_is_newest_first(true), using),
            [third, second, first]
        );
        assert_eq!(
            all(needle().with_kind(Kind::ToolInvocation), using),
            [second]
        );
        assert_eq!(
            all(
                needle()
                    .with_actor("ada".to_owned())
                    .with_kind(Kind::Intent)
                    .with_limit(1),
                using
            )
            .len(),
            1
        );
        assert_eq!(
            all(needle().with_actor("human:ada".to_owned()), using).len(),
            3
        );
        assert_eq!(
            all(needle().with_actor("agent:ada".to_owned()), using),
            NOTHING
        );
        let since = needle().with_since(At::Position(Position(second)));
        assert_eq!(
            all(
                since.clone().with_until(At::Position(Position(second))),
                using
            ),
            [second]
        );
        let mut later = all(since, using);
        later.sort_unstable();
        assert_eq!(later, [second, third]);
        let record = home
            .annals
            .contents()
            .record(Position(third))
            .wait()
            .unwrap()
            .unwrap();
        let recorded = At::Recorded(record.recorded_at().into());
        assert_eq!(all(needle().with_since(recorded), using), [third]);
        assert_eq!(all(needle().with_until(recorded), using).len(), 2);
        let occurred = At::Occurred(record.occurred_at().into());
        assert_eq!(all(needle().with_since(occurred), using), [third]);
        assert_eq!(all(needle().with_until(occurred), using).len(), 2);
    }
    let best = all(needle(), Using::Index);
    assert!(
        best.iter().position(|it| *it == first) < best.iter().position(|it| *it == third),
        "{best:?}"
    );

    let one = search
        .ask(&needle().with_limit(1), Using::Index, &mut |_| {})
        .wait()
        .unwrap();
    assert_eq!((one.hits.len(), one.count), (1, Count::Exactly(3)));
    let phrase = SearchRequest::new(Query::parse("\"needle needle\"").unwrap());
    let answer = search
        .ask(&phrase, Using::Index, &mut |_| {})
        .wait()
        .unwrap();
    assert_eq!(
        (positions(&answer), answer.count),
        (vec![first], Count::Exactly(1))
    );
}

#[test]
fn a_long_result_is_searched_at_its_beginning_and_its_end() {
    let home = Home::new();
    let search = home.search();
    let filler = "filler ".repeat(2_000);
    let result = format!("begins {filler} middle {filler} ends");
    let call = home.tool("Bash", "{}", &result);
    let prompt = home.submit(&format!("{} within", "word ".repeat(2_000)));
    assert_eq!(found(&search, "begins ends"), [call]);
    assert_eq!(found(&search, "middle"), NOTHING);
    assert_eq!(
        positions(&ask(&search, "middle", Using::Log)),
        NOTHING,
        "the log is searched the same way"
    );
    assert_eq!(found(&search, "within"), [prompt]);
}
