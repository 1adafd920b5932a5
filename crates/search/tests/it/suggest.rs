//! Suggestions while a question is typed: by the index as it is, by session, and each link leads to a turn.

use annals::At;
use annals::blocking::Wait;
use annals::event_log::Position;
use annals_search::{LogSearch, Query, SearchRequest, Suggestions, Using};

use crate::support::{Home, ask};

fn suggest(search: &LogSearch, typed: &str, until: Option<u64>) -> Option<Suggestions> {
    let until = until.map(|position| At::Position(Position(position)));
    let request = SearchRequest::new(Query::parse_typed(typed).unwrap()).with_until(until);
    search.suggest(&request, 6, 3).wait().unwrap()
}

/// The positions of suggested hits, those of sessions and those of none.
fn positions(suggestions: &Suggestions) -> (Vec<u64>, Vec<u64>) {
    let of = |is_session: bool| {
        let groups = suggestions.sessions.iter();
        let groups = groups.filter(|group| group.session.is_some() == is_session);
        let hits = groups.flat_map(|group| &group.hits);
        hits.map(|found| found.hit.position.0).collect()
    };
    (of(true), of(false))
}

#[test]
fn suggestions_come_from_the_index_as_it_is() {
    let home = Home::new();
    let search = home.search();
    let call = home.tool("Bash", r#"{"command":"cargo test pagination"}"#, "1 failed");
    let prompt = home.submit("Paginate the list of users");
    assert_eq!(suggest(&search, "pagi", None), None, "there is no index");
    assert!(!home.index().exists(), "and none is made");
    search.catch_up(&mut |_| {}).wait().unwrap();
    let found = suggest(&search, "pagi", None).unwrap();
    assert_eq!(positions(&found), (vec![call], vec![prompt]));
    assert_eq!(
        (found.searched, found.end),
        (Position(prompt), Position(prompt))
    );
    let session = found.sessions.iter().find_map(|it| it.session.as_ref());
    assert_eq!(session.unwrap().title.as_deref(), Some("Begin"));
    let before = suggest(&search, "pagi", Some(call)).unwrap();
    assert_eq!(positions(&before), (vec![call], vec![]));
    // The index that is open answers until it is opened again.
    let later = home.submit("Pagination of orders");
    home.search().catch_up(&mut |_| {}).wait().unwrap();
    let found = suggest(&search, "pagi", None).unwrap();
    assert_eq!(positions(&found).1, [prompt]);
    assert_eq!(
        (found.searched, found.end),
        (Position(prompt), Position(later))
    );
    search.refresh().wait().unwrap();
    let found = suggest(&search, "pagi", None).unwrap();
    assert_eq!(positions(&found).1, [later, prompt]);
    let without_folder = LogSearch::new(&home.annals, None);
    assert_eq!(suggest(&without_folder, "pagi", None), None);
}

#[test]
fn a_session_has_few_hits_that_differ() {
    let home = Home::new();
    for number in 0..20 {
        let args = format!(r#"{{"command":"cargo test case{number}"}}"#);
        home.tool("Bash", &args, "ok");
        home.tool("Bash", r#"{"command":"cargo test"}"#, "ok");
    }
    let search = home.search();
    search.catch_up(&mut |_| {}).wait().unwrap();
    let found = suggest(&search, "cargo te", None).unwrap();
    assert_eq!(found.proposed, 40);
    let [group] = found.sessions.as_slice() else {
        panic!("{found:?}");
    };
    let mut lines: Vec<&str> = group
        .hits
        .iter()
        .map(|it| it.hit.snippet.text.as_str())
        .collect();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), 3, "{group:?}");
}

#[test]
fn an_event_leads_to_its_turn() {
    let home = Home::new();
    let calls = ["fmt", "doc", "test"].map(|word| {
        let args = format!(r#"{{"command":"cargo {word}"}}"#);
        home.tool("Bash", &args, "ok")
    });
    let search = home.search();
    let hits = ask(&search, "cargo", Using::Index).hits;
    let groups = search.in_sessions(hits, At::Now).wait().unwrap();
    let session = groups[0].session.as_ref().unwrap().id;
    let mut turns = Vec::new();
    for call in calls {
        let position = Position(call);
        let turn = search.turn_of(session, position, At::Now).wait().unwrap();
        let found = groups[0].hits.iter().find(|it| it.hit.position == position);
        assert_eq!(turn, found.unwrap().turn, "{call}");
        let then = search.turn_of(session, position, At::Position(position));
        assert_eq!(then.wait().unwrap(), turn, "{call}");
        turns.extend(turn);
    }
    assert!(turns.is_sorted() && turns.len() == 3, "{turns:?}");
    let beyond = Position(home.annals.position().0 + 1);
    assert_eq!(
        search.turn_of(session, beyond, At::Now).wait().unwrap(),
        None
    );
}

/// The title, the counts and the status are those of then, too.
#[test]
fn a_session_is_as_it_was_at_the_position() {
    let home = Home::new();
    let first = home.tool("Bash", r#"{"command":"cargo fmt"}"#, "ok");
    let search = home.search();
    home.tool("Bash", r#"{"command":"cargo test"}"#, "1 failed");
    search.catch_up(&mut |_| {}).wait().unwrap();
    let of = |suggestions: Suggestions| {
        let session = suggestions
            .sessions
            .into_iter()
            .find_map(|group| group.session);
        let session = session.unwrap();
        (session.counts.tool_calls, session.last_position)
    };
    let (calls, now) = of(suggest(&search, "cargo", None).unwrap());
    assert!(calls == 2 && now > first, "{calls} {now}");
    let (calls, then) = of(suggest(&search, "cargo", Some(first)).unwrap());
    assert!(calls == 1 && then <= first, "{calls} {then}");
    let hits = ask(&search, "cargo", Using::Index).hits;
    let groups = search.in_sessions(hits, At::Position(Position(first)));
    let session = groups.wait().unwrap().remove(0).session.unwrap();
    assert_eq!(session.last_position, then);
}
